import { ServiceError } from '../../../contract/errors.ts';

/** Parts of a file that its pixels do not need; a profile changes the colours, EXIF turns the image. */
export const metadataRoles = ['profile', 'exif', 'xmp', 'iptc', 'text', 'other'] as const;
export type MetadataRole = (typeof metadataRoles)[number];

/** What a part of a file is for. */
export type Role =
  | MetadataRole
  /** Headers, tables and coded pixels. */
  | 'pixels'
  /** One frame of an animation. */
  | 'frame'
  /** The head of a JPEG scan. */
  | 'scan'
  /** The first part of a page of a TIFF. */
  | 'page'
  /** JPEG's JFIF segment, which may have a thumbnail. */
  | 'jfif'
  /** A part that decoders may need, or bytes between parts. */
  | 'unknown'
  /** The last part: bytes behind it do not belong to the image. */
  | 'end';

/** A segment, chunk, block, directory entry, box or item of a file. */
export interface Part {
  readonly role: Role;
  /** Offsets of the whole part. */
  readonly from: number;
  readonly to: number;
  /** Offsets of its content; absent where nothing reads it. */
  readonly content?: readonly [start: number, end: number];
  /** True for compressed text. */
  readonly compressed?: boolean;
  /** What its content takes in memory, where that is not what it takes in the file. */
  readonly bytes?: number;
  /** True where decoders read nothing behind this part. */
  readonly last?: boolean;
}

/**
 * The parts of a file in their order, as far as it is well-formed. Nothing is read ahead, so the
 * caller bounds the work by the number of parts that it takes; what has no parts of its own, such as
 * bytes between segments, is bounded by {@link StepLimit}.
 */
export type Parts = Generator<Part, void, void>;

/** A GIF of 32 MB needs 130,000, because a sub-block has up to 255 bytes. Four million take 40 ms. */
const maxSteps = 4_000_000;

/** Bounds the steps within the parts of a file, such as the sub-blocks of a GIF. */
export class StepLimit {
  #left = maxSteps;

  /** @throws ServiceError source_too_large */
  take(): void {
    this.#left -= 1;
    if (this.#left < 0) throw tooManyParts(maxSteps);
  }
}

export function tooManyParts(most: number): ServiceError {
  const message = `The source has more than ${most} parts, such as chunks or segments.`;
  return new ServiceError('source_too_large', message);
}
