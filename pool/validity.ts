import type { SourceState } from './freshness.ts';
import type { Image, ImageTags, InputFacts, Provenance } from './image.ts';

/** What the purges of a project mean for one of its images. Numbers are those of purges, 0 for none. */
export interface ImagePurges {
  readonly tags: ImageTags;
  /** The last purge that the request knows. */
  readonly known: number;
  /** The last known purge that concerns the image: images of a lower stamp are purged. */
  readonly validFrom: number;
  /** Valid images of a lower stamp get the number of the last known purge as their stamp. */
  readonly renewBelow: number;
  /** False as soon as this process knows a later purge that concerns the image. */
  isCurrent(): boolean;
}

/** The key of shared work: it is shared only between requests that know the same purges of the image. */
export const flightKey = (key: string, { validFrom }: ImagePurges): string =>
  validFrom === 0 ? key : `${key} ${validFrom}`;

export const provenanceOf = ({ tags, known }: ImagePurges): Provenance => ({ tags, stamp: known });

/** An image of a cache, and its stamp: the last purge that was known before its inputs were fetched. */
export interface StoredImage {
  readonly image: Image;
  readonly stamp: number;
}

/**
 * Whether an image of a cache may be used: nothing has outdated one of its inputs since they were fetched. Two things
 * outdate an input. Each has an order of its own, because machines have no clock in common.
 *
 * - A purge has a number, which the store counts. A stamp is the last number that was known before the first byte was
 *   fetched, so a purge outdates exactly the images whose fetches may have got the bytes before it, whatever the
 *   clocks of the machines say. A process that cannot read the store does not learn the number: it then serves no
 *   image of the project (`server/project-cache.ts`), so what it does not know does no harm.
 * - A change of an input is found by whoever asks its origin. The state has the digest of the bytes and the times of
 *   the question and of the change, by the clock of that machine. Where an image has digests too, they decide: two
 *   machines agree on them, and a source may have its old bytes again. Then times only tell whether the image or the
 *   state is the newer one of two that differ. Without digests, in images from before the project followed its
 *   sources, the times decide alone: by as much as clocks differ, an old image may be used longer, or a new one be
 *   rendered again.
 *
 * One order for both is not possible. If purges were times, a machine whose clock is fast would give images of old
 * bytes a time after the purge, and keep them for ever. If changes were numbers, each change of a source would be a
 * write to the store, and be missed while the store is away.
 *
 * @param states what is known of the inputs, in their order; null for nothing
 * @param now Unix ms
 */
export function isValid(
  { image, stamp }: StoredImage,
  purges: ImagePurges,
  states: readonly (SourceState | null)[],
  now: number,
): boolean {
  return !isPurged(stamp, purges) && isUpToDate(image, states, now);
}

export const isPurged = (stamp: number, { validFrom }: Pick<ImagePurges, 'validFrom'>): boolean =>
  stamp < validFrom;

/** Whether an image was made of the bytes that are known of its inputs, or of later ones. */
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
