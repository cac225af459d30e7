import sharp from 'sharp';
import type { Size } from '../../geometry.ts';
import { asBuffer } from '../bytes.ts';
import { jpegParts, markers } from './parts.ts';

const endMarker = Buffer.from([0xff, markers.end]);

/**
 * Maximum missing bytes, and the tolerance of their estimate: the mean of two estimates, by the
 * density of the whole scan and of its last bytes.
 */
const maxMissing = 16;
const tolerance = 2;
const maxBlocks = 8;
/** Rows to compare at the bottom, in pixels. */
const comparedRows = 64;

interface Scan {
  /** Offset of the coded data. */
  readonly from: number;
  /** Height of blocks coded together. */
  readonly blockHeight: number;
  readonly progressive: boolean;
}

/**
 * Completes a JPEG that lacks only its end marker or a few more bytes; returns the same bytes for
 * other files. libjpeg draws missing blocks grey, as in browsers.
 *
 * @param size of the image, already checked: this function decodes it up to three times
 */
export async function completedJpeg(source: Uint8Array, size: Size): Promise<Uint8Array> {
  const file = asBuffer(source);
  if (file.subarray(-2).equals(endMarker)) return source;
  const scan = lastScan(file);
  // Coded data does not contain the marker; bytes behind it do not belong to the image.
  if (scan === null || file.lastIndexOf(endMarker) >= scan.from) return source;
  const completed = Buffer.concat([file, endMarker]);
  // libjpeg reads progressive data before any row, so its warnings are complete.
  if (scan.progressive && (await decodeBottom(completed, size, 'warning')) !== null)
    return completed;
  const fewer = Buffer.concat([
    file.subarray(0, Math.max(scan.from, file.length - maxMissing)),
    endMarker,
  ]);
  const [all, part] = [await decodeBottom(completed, size), await decodeBottom(fewer, size)];
  if (all === null || part === null) return source;
  const area = codedArea(all, part, size, scan.blockHeight);
  if (area === null) return source;
  const missing = area.all - area.to;
  // A few bytes do not reveal how many more the rest needs.
  if (missing > area.all / 4) return source;
  // The last bytes of a flat area code this many blocks.
  if (missing <= Math.min(maxBlocks * scan.blockHeight, area.all / 10)) return completed;
  const asAll = (missing * (file.length - scan.from)) / area.to;
  const asLast = (missing * maxMissing) / (area.to - area.from);
  return Math.sqrt(asAll * asLast) <= maxMissing * tolerance ? completed : source;
}

/** Returns a JPEG's last scan, if it starts with all bits of all components; otherwise null. */
function lastScan(file: Buffer): Scan | null {
  let frame: Buffer | null = null;
  let scan: Scan | null = null;
  let progressive = false;
  const complete = new Set<string>();
  for (const { role, from, to } of jpegParts(file)) {
    const type = file[from] === 0xff ? (file[from + 1] ?? 0) : 0;
    if (type >= 0xc0 && type <= 0xc2) frame = file.subarray(from + 9, to);
    progressive ||= type === 0xc2;
    if (role !== 'scan' || frame === null) continue;
    // First and last coefficient, and the bits that later scans refine (B.2.3).
    const [first, last = 0, bits = 0] = file.subarray(to - 3, to);
    for (let at = from + 5; at < to - 3; at += 2) {
      if (first === 0 && (bits & 15) === 0) complete.add(`${file[at]} DC`);
      if (last === 63 && (bits & 15) === 0) complete.add(`${file[at]} AC`);
    }
    const isInterleaved = (file[from + 4] ?? 0) > 1;
    const heights = Array.from({ length: frame[0] ?? 0 }, (_, n) => (frame?.[2 + 3 * n] ?? 0) & 15);
    scan = {
      from: to,
      blockHeight: 8 * (isInterleaved ? Math.max(1, ...heights) : 1),
      progressive,
    };
  }
  return frame !== null && complete.size === 2 * (frame[0] ?? 0) ? scan : null;
}

interface Bottom {
  readonly data: Buffer;
  readonly channels: number;
}

/** Returns an image's last rows; null if decoding fails. */
async function decodeBottom(
  jpeg: Buffer,
  { width, height }: Size,
  failOn: 'warning' | 'none' = 'none',
): Promise<Bottom | null> {
  const rows = Math.min(height, comparedRows);
  try {
    const { data, info } = await sharp(jpeg, { failOn, limitInputPixels: false, ignoreIcc: true })
      .extract({ left: 0, top: height - rows, width, height: rows })
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { data, channels: info.channels };
  } catch {
    return null;
  }
}

/**
 * Returns the area from the first to the last block that differs between all data and a part of it,
 * and the whole image's area, in consecutive block columns; null if no block differs.
 */
function codedArea(
  { data, channels }: Bottom,
  part: Bottom,
  { width, height }: Size,
  block: number,
): { readonly from: number; readonly to: number; readonly all: number } | null {
  const top = height - Math.min(height, comparedRows);
  const all = Math.max(1, Math.ceil((height - 1) / block)) * width;
  let [from, to] = [all, 0];
  for (let at = 0; at < data.length; at += 1) {
    if (data[at] === part.data[at]) continue;
    const pixel = Math.floor(at / channels);
    const y = top + Math.floor(pixel / width);
    // libjpeg interpolates a block's chroma into the next row.
    if ((y > 0 && y % block === 0) || y % block === block - 1) continue;
    const place = Math.floor(y / block) * width + (pixel % width);
    from = Math.min(from, place);
    to = Math.max(to, place + 1);
  }
  return to === 0 ? null : { from, to, all };
}
