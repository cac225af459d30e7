import type { SourceState } from './freshness.ts';
import type { InputFacts } from './image.ts';

/**
 * The purges of an image, as a request knows them. Two things outdate an image. Each has an order of its own, because
 * machines have no clock in common.
 *
 * - A purge has a number, which the store counts. The highest one that concerns the image is its generation, and a part
 *   of its key. A request knows it before the first byte is fetched, so that no image of a generation has bytes from
 *   before its purge, whatever the clocks of the machines say. A process that cannot read the store does not learn the
 *   number: it then serves no image of the project (`server/project-cache.ts`), so what it does not know does no harm.
 * - A change of an input is found by whoever asks its origin, and compared by `isUpToDate`.
 *
 * One order for both is not possible. If purges were times, a machine whose clock is fast would give images of old
 * bytes a time after the purge, and keep them for ever. If changes were numbers, each change of a source would be a
 * write to the store, and be missed while the store is away.
 */
export interface Generation {
  /** 0 for no purge. */
  readonly number: number;
  /** False as soon as this process knows a later purge that concerns the image. */
  isCurrent(): boolean;
}

/**
 * Whether an image was made of the bytes that are known of its inputs, or of later ones. A state has the digest of the
 * bytes and the times of the question and of the change, by the clock of the machine that asked. Where an image has
 * digests too, they decide: two machines agree on them, and a source may have its old bytes again. Then times only
 * tell whether the image or the state is the newer one of two that differ. Without digests, in images from before the
 * project followed its sources, the times decide alone: by as much as clocks differ, an old image may be used longer,
 * or a new one be rendered again.
 *
 * @param states what is known of the inputs, in their order; null for nothing
 * @param now Unix ms
 */
export function isUpToDate(
  { fetchedAt, digests = [] }: InputFacts,
  states: readonly (SourceState | null)[],
  now: number,
): boolean {
  return states.every((state, input) => {
    const digest = digests[input] ?? null;
    if (state === null || (digest !== null && digest === state.digest)) return true;
    const at = fetchedAt[input] ?? 0;
    const isOther = digest !== null && state.digest !== null;
    // An image of a later time was made before the clock was set back.
    return at >= state.changedAt && at <= now && !(isOther && at <= state.checkedAt);
  });
}
