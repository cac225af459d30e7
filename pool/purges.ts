import type { ImageTags, Provenance } from './image.ts';

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
