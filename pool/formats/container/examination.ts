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
interface FilePart {
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
export type Parts = Generator<FilePart, void, void>;

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

/** How to find and change a file's parts. */
export interface ContainerFormat {
  readonly parts: (file: Buffer) => Parts;
  /** True if parts follow each other and no offset refers to them, so that parts can be cut out. */
  readonly sequential: boolean;
  /**
   * Converts the source to a form that libvips 8.18 opens, in a copy if the bytes change. The
   * service can deliver the result.
   */
  readonly opened?: (source: Uint8Array) => Uint8Array;
  /**
   * Ends a file that lacks its end, in a copy: its missing pixels are grey, black or transparent.
   * Returns the same bytes for other files.
   */
  readonly ended?: (source: Uint8Array) => Uint8Array;
  /**
   * Adds parts that libvips 8.18 does not infer. Returns the same bytes if the file is complete.
   */
  readonly completed?: (source: Uint8Array) => Uint8Array;
  /** Corrects a file's header after parts were removed. */
  readonly correct?: (file: Buffer, removed: ReadonlySet<MetadataRole>) => void;
  /** Corrects a file after its EXIF was replaced. @param exif offsets of the EXIF content */
  readonly seal?: (file: Buffer, exif: readonly [start: number, end: number]) => void;
  /**
   * Returns whether a file contains only coded images, without metadata. Absent if the format's
   * parts show that.
   */
  readonly hasOnlyImages?: (source: Uint8Array) => boolean;
}

/** Properties of a container, from its parts. */
export interface Examination {
  /** Scans in a JPEG (ITU-T T.81, B.1): one to four if baseline, about ten if progressive. */
  readonly scans: number;
  /** Frames in an animation. */
  readonly frames: number;
  /** Pages in a TIFF. */
  readonly pages: number;
  /**
   * Kinds of metadata above {@link maxThreadMetadataBytes} or {@link maxMetadataParts}, or with
   * compressed text.
   */
  readonly excessMetadata: ReadonlySet<MetadataRole>;
  /** True if parts share bytes, or malformed parts hide how much metadata the file has. */
  readonly inconsistent: boolean;
  /** Offsets of the EXIF; null if absent or in several pieces. */
  readonly exif: readonly [start: number, end: number] | null;
}

/**
 * Maximum bytes per kind of metadata read on a transform thread; a process reads larger metadata. A
 * JPEG segment has less than 64 KiB; printing profiles have up to 1 MiB. No code reads `other`.
 */
export const maxThreadMetadataBytes: Readonly<Record<MetadataRole, number>> = {
  profile: 2 ** 20,
  exif: 2 ** 16,
  xmp: 2 ** 16,
  iptc: 2 ** 16,
  text: 2 ** 16,
  other: Number.POSITIVE_INFINITY,
};

/** Each costs libvips an allocation in every step of the pipeline. */
export const maxMetadataParts = 1_000;

/**
 * A 32 MB PNG contains 4,000 parts if libpng wrote it (8 KB each); a GIF with the maximum number of
 * frames contains 4,000. 50,000 take 20 to 45 ms.
 */
export const maxParts = 50_000;

export const notExamined: Examination = {
  scans: 0,
  frames: 0,
  pages: 0,
  excessMetadata: new Set<MetadataRole>(),
  inconsistent: false,
  exif: null,
};

/**
 * Examines the parts of a file, at most {@link maxParts} of them.
 *
 * @throws ServiceError source_too_large for too many parts
 */
export function examineParts(file: Buffer, { parts, sequential }: ContainerFormat): Examination {
  const count = { parts: 0, metadata: 0, scan: 0, frame: 0, page: 0 };
  const excessMetadata = new Set<MetadataRole>();
  const metadataBytes = new Map<MetadataRole, number>();
  let inconsistent = false;
  let exif: Examination['exif'] = null;
  let totalBytes = 0;
  for (const { role, from, to, content, compressed, bytes, last } of parts(file)) {
    count.parts += 1;
    if (count.parts > maxParts) throw tooManyParts(maxParts);
    if (role === 'scan' || role === 'frame' || role === 'page') count[role] += 1;
    if (role === 'page') {
      // Each page is opened separately.
      metadataBytes.clear();
      totalBytes = 0;
      count.metadata = 0;
    }
    totalBytes += to - from;
    // Parts that refer to the same bytes make a small file expensive.
    inconsistent ||= totalBytes > 2 * file.length || (role === 'unknown' && !sequential);
    if (isMetadata(role)) {
      count.metadata += 1;
      const sum = (metadataBytes.get(role) ?? 0) + (bytes ?? to - from);
      metadataBytes.set(role, sum);
      const isExcess = sum > maxThreadMetadataBytes[role] || count.metadata > maxMetadataParts;
      if (isExcess || compressed === true) excessMetadata.add(role);
      if (role === 'exif' && content !== undefined) exif ??= content;
    }
    if (last === true) break;
  }
  const { scan, frame, page } = count;
  return { scans: scan, frames: frame, pages: page, excessMetadata, inconsistent, exif };
}

const isMetadata = (role: FilePart['role']): role is MetadataRole =>
  metadataRoles.some((metadataRole) => metadataRole === role);
