import type { ImageTags } from './image.ts';

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
