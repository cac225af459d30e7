import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { bufferOf, type Container } from '../container/container.ts';
import { withoutThumbnail } from './exif.ts';
import { withoutGainMap } from './gain-map.ts';

/** The metadata of a source that an output with other pixels may have. */
export interface KeptMetadata {
  /** The source with that EXIF; the same bytes where nothing had to be changed. */
  readonly source: Uint8Array;
  /** Left out when it could not be read. */
  readonly exif: 'none' | 'kept' | 'left out';
  /** Replaces the source's XMP; null when that is kept, '' when it could not be read. */
  readonly xmp: string | null;
}

/** Of EXIF and of XMP, each: more is left out, because every step of the pipeline copies it. */
const mostKeptBytes = 2 ** 20;

/** The source was opened before, with checks of its own. */
const reading = { limitInputPixels: false, failOn: 'none' } as const;

/**
 * Without the thumbnail in the EXIF, and without what the XMP says about a gain map. sharp cannot
 * change EXIF that it keeps, so it is changed in the source, from which sharp takes it.
 */
export async function keptMetadata(container: Container): Promise<KeptMetadata> {
  const { bytes: source } = container;
  const { exif, xmp } = await sharp(source, reading).metadata();
  const kept = { xmp: xmp === undefined ? null : replacement(xmp) };
  if (exif === undefined) return { ...kept, source, exif: 'none' };
  const plain = exif.length > mostKeptBytes ? null : withoutThumbnail(exif);
  if (plain === exif) return { ...kept, source, exif: 'kept' };
  const changed = plain === null ? null : withExif(container, exif, plain);
  // libvips may use another copy of it, which a file should not have.
  const isGone = changed !== null && (await hasThumbnail(changed)) === false;
  return isGone
    ? { ...kept, source: changed, exif: 'kept' }
    : { ...kept, source, exif: 'left out' };
}

/** See `KeptMetadata.xmp`. */
function replacement(xmp: Buffer): string | null {
  if (xmp.length > mostKeptBytes) return '';
  const packet = xmp.toString();
  const plain = withoutGainMap(packet);
  return plain === packet ? null : (plain ?? '');
}

async function hasThumbnail(source: Uint8Array): Promise<boolean> {
  const { exif } = await sharp(source, reading).metadata();
  return exif !== undefined && withoutThumbnail(exif) !== exif;
}

/** A copy of the source with other EXIF of the same length; null where the EXIF is elsewhere. */
function withExif({ bytes, kind, exif }: Container, from: Buffer, to: Buffer): Buffer | null {
  if (exif === null) return null;
  // What a format writes before it, such as an offset in HEIF, libvips leaves out.
  const at = exif[1] - from.length;
  if (at < exif[0] || !bufferOf(bytes).subarray(at, exif[1]).equals(from)) return null;
  const copy = Buffer.from(bytes);
  copy.set(to, at);
  // A PNG has a checksum behind a chunk's data, of these and its type.
  if (kind === 'png') copy.writeUInt32BE(crc32(copy.subarray(exif[0] - 4, exif[1])), exif[1]);
  return copy;
}
