import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import type { SourceKind } from '../kinds.ts';
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

/** The source was opened before, with checks of its own. */
const reading = { limitInputPixels: false, failOn: 'none' } as const;

/**
 * Without the thumbnail in the EXIF, and without what the XMP says about a gain map. sharp cannot
 * change EXIF that it keeps, so it is changed in the source, from which sharp takes it.
 */
export async function keptMetadata(source: Uint8Array, kind: SourceKind): Promise<KeptMetadata> {
  const { exif, xmp } = await sharp(source, reading).metadata();
  const plainXmp = xmp === undefined ? null : withoutGainMap(xmp.toString());
  const kept = { xmp: xmp === undefined || plainXmp === xmp.toString() ? null : (plainXmp ?? '') };
  if (exif === undefined) return { ...kept, source, exif: 'none' };
  const plain = withoutThumbnail(exif);
  if (plain === exif) return { ...kept, source, exif: 'kept' };
  const changed = plain === null ? null : replaced(source, kind, exif, plain);
  // Another copy of it may have been found first.
  const isGone = changed !== null && (await hasThumbnail(changed)) === false;
  return isGone
    ? { ...kept, source: changed, exif: 'kept' }
    : { ...kept, source, exif: 'left out' };
}

async function hasThumbnail(source: Uint8Array): Promise<boolean> {
  const { exif } = await sharp(source, reading).metadata();
  return exif !== undefined && withoutThumbnail(exif) !== exif;
}

/** A copy with other bytes of the same length in one place; null when that cannot be found. */
function replaced(source: Uint8Array, kind: SourceKind, from: Buffer, to: Buffer): Buffer | null {
  const copy = Buffer.from(source);
  const at = copy.indexOf(from);
  if (at === -1) return null;
  copy.set(to, at);
  // A PNG has a checksum behind a chunk's data, of these and its type.
  if (kind === 'png')
    copy.writeUInt32BE(crc32(copy.subarray(at - 4, at + to.length)), at + to.length);
  return copy;
}
