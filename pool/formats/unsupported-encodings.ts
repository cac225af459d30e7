import type { Metadata } from 'sharp';
import type { ServiceError } from '../../contract/errors.ts';
import { bufferOf } from './bytes.ts';
import { readHeif } from './container/heif.ts';
import { pngColours } from './container/png.ts';
import { type TiffPixels, tiffPixels } from './container/tiff.ts';
import { unsupported } from './errors.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { type Cicp, requireConvertible } from './metadata/cicp.ts';

/**
 * Refuses HDR colours without a profile. libvips 8.18 ignores CICP: it reads them as sRGB, grey and dark. For
 * other colours `openContainer` adds a profile.
 *
 * @throws ServiceError source_unsupported
 */
export function requireConvertibleColours(
  source: Uint8Array,
  kind: SourceKind,
  { hasProfile }: Pick<Metadata, 'hasProfile'>,
): void {
  const codes = hasProfile ? null : codesOf(source, kind);
  if (codes !== null) requireConvertible(codes.transfer);
}

function codesOf(source: Uint8Array, kind: SourceKind): Cicp | null {
  if (kind === 'png') return pngColours(source).cicp;
  return kind === 'avif' || kind === 'heif' ? readHeif(source).cicp : null;
}

/**
 * Refuses tiles of old-style JPEG. libtiff may be built without that codec, as sharp's is: libvips 8.18 then draws
 * nothing and reports success (`rtiff_read_rgba_tile`).
 *
 * @throws ServiceError source_unsupported
 */
export function requireReadableTiles(source: Uint8Array): void {
  for (const { compression, tiled } of tiffPixels(bufferOf(source))) {
    if (tiled && compression === oldJpeg) throw unsupportedTiff('tiles of old-style JPEG');
  }
}

/**
 * The error for a file that failed to decode because of an encoding that libvips does not support; one
 * such page of a TIFF keeps libvips from opening the others. The file's own tags decide: the threads share
 * one buffer for libvips' messages, so a message may be missing or belong to another file.
 *
 * @returns null for other encodings
 */
export function unsupportedEncoding(
  kind: SourceKind,
  source: Uint8Array,
  error: unknown,
): ServiceError | null {
  if (kind === 'avif' || kind === 'heif') return unsupportedHeif(kind, source, error);
  if (kind !== 'tiff') return null;
  for (const page of tiffPixels(bufferOf(source))) {
    const encoding = unsupportedTiffEncoding(page);
    if (encoding === null) continue;
    return unsupportedTiff(encoding, error);
  }
  return null;
}

function unsupportedTiff(encoding: string, cause?: unknown): ServiceError {
  const message = `The source is a TIFF in an unsupported encoding (${encoding}). To use it: save it with another compression, or as PNG.`;
  return unsupported(message, cause);
}

/** Codings of items that libheif reads. */
const heifCodings: ReadonlySet<string> = new Set(['av01', 'hvc1']);

/** Types of coded items (the registry of MPEG-4, mp4ra.org). */
const codingNames: Readonly<Record<string, string>> = {
  avc1: 'AVC',
  j2k1: 'JPEG 2000',
  jpeg: 'JPEG',
  lhv1: 'layered HEVC',
  unci: 'uncompressed pixels',
  vvc1: 'VVC',
};

function unsupportedHeif(
  kind: 'avif' | 'heif',
  source: Uint8Array,
  error: unknown,
): ServiceError | null {
  const { onlySequence, coding, predicted } = readHeif(source);
  const { label } = kinds[kind];
  const remedy = 'To use it: save it as HEIC, AVIF or JPEG';
  if (onlySequence) {
    const message = `The ${label} has only a sequence, and no image. To use it: deliver one of its frames as an image.`;
    return unsupported(message, error);
  }
  if (coding !== null && !heifCodings.has(coding)) {
    const name = codingNames[coding] ?? coding;
    const message = `The source is a HEIF in an unsupported encoding (${name}). ${remedy}.`;
    return unsupported(message, error);
  }
  return predicted
    ? unsupported(`The source is a HEIF that is predicted from another image. ${remedy}.`, error)
    : null;
}

/** JPEG as section 22 of TIFF 6.0 describes it, which nothing writes any more. */
const oldJpeg = 6;

/** Values of the tag Compression that libtiff reads nowhere, or only in some installations. */
const compressions: Readonly<Record<number, string>> = {
  [oldJpeg]: 'old-style JPEG',
  9: 'JBIG',
  10: 'JBIG',
  32909: 'PixarLog',
  33003: 'JPEG 2000',
  33005: 'JPEG 2000',
  34661: 'JBIG',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34892: 'lossy JPEG of DNG',
  34925: 'LZMA',
  50000: 'Zstandard',
  50002: 'JPEG XL',
  52546: 'JPEG XL',
};

const photometric = { white: 0, black: 1, palette: 3, lab: 8 } as const;

/** The encodings that libvips refuses (libvips/foreign/tiff2vips.c). */
function unsupportedTiffEncoding(page: TiffPixels): string | null {
  const { compression, bits, samples, colours, separate, tiled } = page;
  const name = compressions[compression];
  if (name !== undefined) return `${name} compression`;
  if (separate && tiled) return 'tiles of separate planes';
  if (colours === photometric.lab && bits === 8) return 'L*a*b* colours of 8 bits';
  const isPalette = colours === photometric.palette;
  const isGrey = colours === photometric.white || colours === photometric.black;
  const mayBeSmall = isPalette || (isGrey && samples === 1);
  if ([8, 16, 32].includes(bits) || (mayBeSmall && [1, 2, 4].includes(bits))) return null;
  return `${samples === 1 ? 'one sample' : `${samples} samples`} of ${bits} bits`;
}
