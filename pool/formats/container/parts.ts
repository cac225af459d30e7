import type { ServiceError } from '../../../contract/errors.ts';
import { tooLarge } from '../errors.ts';

/** Parts that are not pixels. A profile changes the colours, and EXIF the orientation. */
export const metadataRoles = ['profile', 'exif', 'xmp', 'iptc', 'text', 'other'] as const;
export type MetadataRole = (typeof metadataRoles)[number];

export type PartRole =
  | MetadataRole
  /** Headers, tables and coded pixels. */
  | 'pixels'
  /** An animation frame. */
  | 'frame'
  /** The head of a JPEG scan. */
  | 'scan'
  /** The first part of a TIFF page. */
  | 'page'
  /** A part that decoders can need, or bytes between parts. */
  | 'unknown'
  /** The last part. Bytes after it do not belong to the image. */
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
  /**
   * Creates the part without data that the pixels do not need, such as a thumbnail; absent if the
   * part contains no such data.
   */
  readonly plain?: () => Buffer;
  /** Whether decoders ignore everything after this part. */
  readonly last?: boolean;
}

/**
 * A file's parts in order, up to the first malformed part. The generator parses on demand, so the
 * number of parts taken bounds the work; a {@link StepLimit} bounds the work within a part.
 */
export type Parts = Generator<Part, void, void>;

/** A 32 MB GIF needs 130,000, because a sub-block has up to 255 bytes. Four million take 40 ms. */
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
