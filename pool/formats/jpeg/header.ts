import { uintReader } from '../byte-order.ts';
import { asBuffer, parsedOr } from '../bytes.ts';
import type { Part } from '../container/parts.ts';
import type { FileHeader } from '../source-format.ts';
import { jpegParts, markers } from './parts.ts';

/** Bytes before the data in a profile segment: marker, length, name, number and count. */
const profileHead = 18;
/** libvips ignores parts beyond these. */
const maxProfileParts = 10;
const exifPrefix = 'Exif\0\0';
const orientationTag = 0x0112;
const short = 3;

/**
 * Reads a plain JPEG's header like libvips: 8 bits, one or three components, well-formed tables,
 * and usual EXIF and profile. Returns null for any other JPEG, which sharp reads.
 *
 * @param source with examined parts
 */
export function readPlainHeader(source: Uint8Array): FileHeader | null {
  return parsedOr(null, () => {
    const file = asBuffer(source);
    let frame: Frame | null = null;
    let orientation: number | null = null;
    let profileParts = 0;
    const profile: Buffer[] = [];
    for (const part of jpegParts(file)) {
      if (part.role === 'unknown') return null;
      const type = file[part.from + 1] ?? 0;
      if (part.role === 'scan') {
        if (frame === null || profile.length !== profileParts) return null;
        if (!isScanHeader(frame, file, part)) return null;
        return createHeader(frame, orientation ?? 1, profile);
      }
      if (part.role === 'exif') {
        const found: number | null = orientation === null ? exifOrientation(file, part) : null;
        if (found === null) return null;
        orientation = found;
      } else if (part.role === 'profile') {
        const [number, count = 0] = file.subarray(part.from + profileHead - 2);
        const isNext = number === profile.length + 1 && (number === 1 || count === profileParts);
        if (!isNext || count > maxProfileParts) return null;
        profileParts = count;
        profile.push(file.subarray(part.from + profileHead, part.to));
      } else if (isFrame(type)) {
        if (frame !== null) return null;
        frame = readFrame(file, part);
        if (frame === null) return null;
      } else if (!isHarmless(file, type, part)) return null;
    }
    return null;
  });
}

type Frame = Pick<FileHeader, 'width' | 'height'> & {
  readonly components: 1 | 3;
  readonly ids: readonly number[];
};

function createHeader(
  { width, height, components }: Frame,
  orientation: number,
  profile: readonly Buffer[],
): FileHeader {
  const icc = profile.length === 1 ? profile[0] : Buffer.concat(profile);
  return {
    format: 'jpeg',
    width,
    height,
    space: components === 1 ? 'b-w' : 'srgb',
    channels: components,
    depth: 'uchar',
    hasAlpha: false,
    orientation,
    hasProfile: profile.length > 0,
    ...(profile.length > 0 && icc !== undefined ? { icc } : {}),
  };
}

/**
 * Returns whether a marker starts the frame of a baseline, extended or progressive JPEG (SOF0 to
 * SOF2).
 */
const isFrame = (type: number): boolean => type >= 0xc0 && type <= 0xc2;

/**
 * Reads a frame header (ITU-T T.81, B.2.2); returns null if it is unusual or libjpeg refuses it.
 */
function readFrame(file: Buffer, { from, to }: Part): Frame | null {
  const components = file[from + 9];
  if (components !== 1 && components !== 3) return null;
  const bits = file[from + 4];
  const [height, width] = [file.readUInt16BE(from + 5), file.readUInt16BE(from + 7)];
  if (bits !== 8 || width === 0 || height === 0 || to - from !== 10 + 3 * components) return null;
  const ids: number[] = [];
  for (let at = from + 10; at < to; at += 3) {
    const [id = 0, sampling = 0, table = 0] = file.subarray(at, at + 3);
    const sides = [sampling >> 4, sampling & 15];
    if (sides.some((side) => side < 1 || side > 4) || table > 3 || ids.includes(id)) return null;
    ids.push(id);
  }
  return { width, height, components, ids };
}

/** Returns whether a part is a scan header (B.2.3) with components of the frame. */
function isScanHeader({ ids }: Frame, file: Buffer, { from, to }: Part): boolean {
  const components = file[from + 4] ?? 0;
  if (components < 1 || to - from !== 8 + 2 * components) return false;
  const used = Array.from({ length: components }, (_, index) => file[from + 5 + 2 * index] ?? 0);
  return new Set(used).size === components && used.every((id) => ids.includes(id));
}

/** Returns whether a segment does not affect the header, or contains well-formed tables. */
function isHarmless(file: Buffer, type: number, { role, from, to }: Part): boolean {
  if (type === markers.huffmanTables) return hasHuffmanTables(file, from + 4, to);
  if (type === markers.quantisationTables) return hasQuantisationTables(file, from + 4, to);
  if (type === markers.restartInterval) return to - from === 6;
  // libvips takes more for EXIF or profiles than their prefixes.
  const begins = file.toString('latin1', from + 4, from + 8);
  return role !== 'other' || !/^(?:Exif|ICC_)/.test(begins);
}

/**
 * Returns whether the data consists of code lengths and symbols of up to eight tables (B.2.4.2).
 */
function hasHuffmanTables(file: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at + 17 <= end) {
    const symbols = file.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0);
    if (((file[at] ?? 0) & 0xef) > 3 || symbols > 256) return false;
    at += 17 + symbols;
  }
  return at === end;
}

/** Returns whether the data consists of tables with 64 values of one or two bytes (B.2.4.1). */
function hasQuantisationTables(file: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const table = file[at] ?? 0;
    if ((table & 0xef) > 3) return false;
    at += table < 16 ? 65 : 129;
  }
  return at === end;
}

/** Returns the orientation in EXIF; 1 if absent, null for unusual EXIF. */
function exifOrientation(file: Buffer, { from, to }: Part): number | null {
  const prefix = file.toString('latin1', from + 4, from + 4 + exifPrefix.length);
  const tiff = file.subarray(from + 4 + exifPrefix.length, to);
  const read = uintReader(tiff);
  if (prefix !== exifPrefix || tiff.length < 14 || read === null || read(2, 2) !== 42) return null;
  const first = read(4, 4);
  const end = first + 2 + 12 * read(first, 2);
  if (end > tiff.length) return null;
  let orientation: number | null = null;
  for (let at = first + 2; at < end; at += 12) {
    if (read(at, 2) !== orientationTag) continue;
    const value = read(at + 8, 2);
    const isUsual = read(at + 2, 2) === short && read(at + 4, 4) === 1 && value >= 1 && value <= 8;
    if (!isUsual || orientation !== null) return null;
    orientation = value;
  }
  return orientation ?? 1;
}
