import type { ServiceError } from '../../../contract/errors.ts';
import { tooLarge } from '../errors.ts';

/**
 * Parts that the pixels do not need. A profile changes the colours, and EXIF the orientation; `c2pa` is a manifest
 * of Content Credentials.
 */
export const metadataRoles = ['profile', 'exif', 'xmp', 'iptc', 'text', 'c2pa', 'other'] as const;
export type MetadataRole = (typeof metadataRoles)[number];

/** Purpose of a part. */
export type PartRole =
  | MetadataRole
  /** Headers, tables and coded pixels. */
  | 'pixels'
  /** One frame of an animation. */
  | 'frame'
  /** The head of a JPEG scan. */
  | 'scan'
  /** The first part of a page of a TIFF. */
  | 'page'
  /** A part that decoders may need, or bytes between parts. */
  | 'unknown'
  /** The last part: bytes behind it do not belong to the image. */
  | 'end';

/** A segment, chunk, block, directory entry, box or item of a file. */
export interface Part {
  readonly role: PartRole;
  /** Offsets of the whole part. */
  readonly from: number;
  readonly to: number;
  /** Offsets of its content; absent if unused. */
  readonly content?: readonly [start: number, end: number];
  /** True for compressed text. */
  readonly compressed?: boolean;
  /** Decompressed size of its content; absent if not compressed. */
  readonly bytes?: number;
  /** Makes the part without what the pixels do not need, such as a thumbnail; absent if it has nothing else. */
  readonly plain?: () => Buffer;
  /** True if decoders read nothing behind this part. */
  readonly last?: boolean;
}

/**
 * The parts of a file in order, up to the first malformed one. Parts are parsed on demand, so the number
 * of parts that the caller takes bounds the work; a {@link StepLimit} bounds the work within a part.
 */
export type Parts = Generator<Part, void, void>;

/** A GIF of 32 MB needs 130,000, because a sub-block has up to 255 bytes. Four million take 40 ms. */
const maxSteps = 4_000_000;

/** Limits the steps within the parts of one file, such as the sub-blocks of a GIF. */
export class StepLimit {
  #left = maxSteps;

  /** @throws ServiceError source_too_large */
  take(): void {
    this.#left -= 1;
    if (this.#left < 0) throw tooManyParts(maxSteps);
  }
}

export const tooManyParts = (max: number): ServiceError =>
  tooLarge(`The source has more than ${max} parts, such as chunks or segments.`);
