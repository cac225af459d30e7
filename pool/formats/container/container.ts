import type { SourceKind } from '../kinds.ts';
import { sniff } from '../sniff.ts';
import { unsupportedFormat } from '../unsupported-formats.ts';
import { gifParts } from './gif.ts';
import { withStillBrand } from './heif.ts';
import { heifParts } from './heif-parts.ts';
import { jpegParts } from './jpeg.ts';
import { type MetadataRole, metadataRoles, type Part, type Parts, tooManyParts } from './parts.ts';
import { pngParts } from './png.ts';
import { tiffParts } from './tiff.ts';
import { webpParts } from './webp.ts';

/** A source, with what its container says before anything decodes it. */
export interface Container {
  readonly bytes: Uint8Array;
  readonly kind: SourceKind;
  /** Scans of a JPEG (ITU-T T.81, B.1): baseline ones have one to four, progressive ones about ten. */
  readonly scans: number;
  /** Frames of an animated GIF or WebP. */
  readonly frames: number;
  /** Pages of a TIFF. */
  readonly pages: number;
  /** The metadata that is above {@link maxThreadMetadataBytes}, or compressed. */
  readonly excessMetadata: ReadonlySet<MetadataRole>;
  /** True when the file is so malformed that its metadata is not known, or its parts share bytes. */
  readonly inconsistent: boolean;
  /** Where the EXIF is; null for none, and where it is not in one piece. */
  readonly exif: readonly [start: number, end: number] | null;
}

/**
 * The bytes of each kind of metadata that a transform thread reads. A segment of a JPEG has less than
 * 64 KiB; profiles for printing have up to 1 MiB. What nothing reads is limited by the source's bytes.
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
 * A PNG of 32 MB has 4,000 parts of the 8 KB that libpng writes; a GIF of the most frames that are
 * allowed has 4,000. 50,000 take 20 to 45 ms.
 */
export const maxParts = 50_000;

interface Format {
  /** The parts of a file, as far as it is well-formed. */
  readonly parts: (file: Buffer) => Parts;
  /** True for a series of parts that name no offsets, so that some can be left out. */
  readonly sequential: boolean;
}

/** Null for kinds that are only opened in a process, which has limits of its own. */
export const containerFormats: Readonly<Record<SourceKind, Format | null>> = {
  jpeg: { parts: jpegParts, sequential: true },
  png: { parts: pngParts, sequential: true },
  gif: { parts: gifParts, sequential: true },
  webp: { parts: webpParts, sequential: true },
  tiff: { parts: tiffParts, sequential: false },
  avif: { parts: heifParts, sequential: false },
  heif: { parts: heifParts, sequential: false },
  svg: null,
  bmp: null,
  ico: null,
  jxl: null,
};

export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * Looks at the parts of a source, before sharp or any parser of ours reads it. The work is bounded by
 * {@link maxParts}, whatever the source says.
 *
 * @throws ServiceError source_unsupported for bytes of no supported format, source_too_large for too
 *   many parts
 */
export function openContainer(given: Uint8Array): Container {
  const kind = sniff(given);
  if (kind === null) throw unsupportedFormat(given);
  const bytes = withStillBrand(given);
  const format = containerFormats[kind];
  return { bytes, kind, ...(format === null ? unread : examine(bufferOf(bytes), format)) };
}

type Survey = Omit<Container, 'bytes' | 'kind'>;

const unread: Survey = {
  scans: 0,
  frames: 0,
  pages: 0,
  excessMetadata: new Set<MetadataRole>(),
  inconsistent: false,
  exif: null,
};

function examine(file: Buffer, { parts, sequential: series }: Format): Survey {
  const count = { parts: 0, metadata: 0, scan: 0, frame: 0, page: 0 };
  const excess = new Set<MetadataRole>();
  const sums = new Map<MetadataRole, number>();
  let suspicious = false;
  let exif: Survey['exif'] = null;
  let claimed = 0;
  for (const { role, from, to, content, compressed, bytes, last } of parts(file)) {
    count.parts += 1;
    if (count.parts > maxParts) throw tooManyParts(maxParts);
    if (role === 'scan' || role === 'frame' || role === 'page') count[role] += 1;
    if (role === 'page') {
      // Each page is opened by itself.
      sums.clear();
      claimed = 0;
      count.metadata = 0;
    }
    claimed += to - from;
    // Where parts may be anywhere, a small file can name its bytes again and again.
    suspicious ||= claimed > 2 * file.length || (role === 'unknown' && !series);
    if (isMetadata(role)) {
      count.metadata += 1;
      const its = (sums.get(role) ?? 0) + (bytes ?? to - from);
      sums.set(role, its);
      const isMuch = its > maxThreadMetadataBytes[role] || count.metadata > maxMetadataParts;
      if (isMuch || compressed === true) excess.add(role);
      if (role === 'exif' && content !== undefined) exif ??= content;
    }
    if (last === true) break;
  }
  const { scan, frame, page } = count;
  return {
    scans: scan,
    frames: frame,
    pages: page,
    excessMetadata: excess,
    inconsistent: suspicious,
    exif,
  };
}

const isMetadata = (role: Part['role']): role is MetadataRole =>
  metadataRoles.some((one) => one === role);
