import type { SourceState } from './freshness.ts';
import type { InputFacts } from './image.ts';

/**
 * An image's purges, as known at request time. Two events outdate an image. They are ordered
 * separately, because machines share no clock.
 *
 * - The store numbers purges. The highest number that concerns the image is its generation, and
 *   part of its key. A request reads it before it fetches the first byte, so that an image never
 *   contains bytes from before its generation's purge, whatever the machines' clocks show. A
 *   process that cannot read the store does not receive the number: it then serves no image for the
 *   project (`server/project-cache.ts`), so missing a purge is harmless.
 * - A change to an input is found by the process that revalidates it, and compared by `isUpToDate`.
 *
 * A common order is impossible. If purges were times, a machine with a fast clock would date images
 * of old bytes after the purge, and keep them forever. If changes were numbers, each change to a
 * source would need a write to the store, and be missed during an outage.
 */
export interface Generation {
  /** 0 for no purge. */
  readonly number: number;
  /** Returns false as soon as this process learns of a later purge that concerns the image. */
  isCurrent(): boolean;
}

/**
 * Returns whether an image was made from its inputs' known bytes, or from later bytes. A state
 * contains the bytes' digest and the times of the check and the change, by the checking machine's
 * clock. If the image has digests too, they decide: two machines agree on them, and a source can
 * return to old bytes. Times then only decide whether the image or the state is newer if they
 * differ. Without digests, in images from before the project followed its sources, the times alone
 * decide: by as much as clocks differ, an old image can be used longer, or a new image rendered
 * again.
 *
 * @param states known states of the inputs, in order; null if unknown
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
    // An image with a later time was made before the clock was set back.
    return at >= state.changedAt && at <= now && !(isOther && at <= state.checkedAt);
  });
}
