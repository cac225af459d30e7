import type { ServiceError } from '../../../contract/errors.ts';
import { requirePage, requirePixels } from '../bounds.ts';
import { parseBytes } from '../bytes.ts';
import { corrupt, unsupported } from '../errors.ts';
import { plainFacts } from '../raw-pixels.ts';
import type {
  Container,
  ExamineOptions,
  InspectionLimits,
  InspectionResult,
} from '../source-format.ts';

/** Each channel's bit mask in a 16-bit or 32-bit pixel; 0 for a missing channel. */
type Masks = readonly [red: number, green: number, blue: number, alpha: number];

/** A bitmap's header: Microsoft's BITMAPINFOHEADER and its versions, or OS/2's. */
export interface BitmapHeader {
  readonly width: number;
  readonly height: number;
  /** True for rows from top to bottom. */
  readonly topDown: boolean;
  readonly bits: 1 | 2 | 4 | 8 | 16 | 24 | 32;
  readonly coding: 'plain' | 'runs';
  readonly masks: Masks;
  /** True for run lengths that skip pixels. */
  readonly skips: boolean;
  /** The colours' offset and number, and bytes per colour. */
  readonly palette: { readonly at: number; readonly colours: number; readonly bytes: 3 | 4 };
  /** The pixels' default offset: the palette's end. */
  readonly pixelsAt: number;
}

const depths = [1, 2, 4, 8, 16, 24, 32] as const;
const compressions = {
  plain: 0,
  runs8: 1,
  runs4: 2,
  masks: 3,
  jpeg: 4,
  png: 5,
  masks4: 6,
} as const;
/** OS/2's second version: a value of compression, and the maximum size of its header. */
const os2 = { runs24: 4, headerBytes: 64 } as const;
/** Size of OS/2's first header, BITMAPCOREHEADER. */
const coreHeaderBytes = 12;

/**
 * Reads a bitmap's header without allocating memory.
 *
 * @param at the header's offset
 * @param isIcon true in an ICO: the height then includes the mask below the image
 * @throws ServiceError source_unsupported, source_corrupt
 * @throws RangeError for truncated bytes
 */
export function readBitmapHeader(bytes: Buffer, at: number, isIcon: boolean): BitmapHeader {
  const size = bytes.readUInt32LE(at);
  if (!isHeaderSize(size)) throw corruptBitmap(`has a header of ${size} bytes`);
  const { width, rows, bits, compression, coloursUsed } =
    size === coreHeaderBytes ? readCore(bytes, at) : readInfo(bytes, at, size);
  const height = isIcon ? Math.abs(rows) >> 1 : Math.abs(rows);
  if (width < 1 || height < 1) throw corruptBitmap('has no pixels');
  const depth = depths.find((supported) => supported === bits);
  if (depth === undefined) throw unsupportedBitmap(compression, bits);
  const coding = toCoding(compression, bits, size);
  if (coding === null || (coding === 'runs' && rows < 0))
    throw unsupportedBitmap(compression, bits);
  const masked = compression === compressions.masks || compression === compressions.masks4;
  // In the first version the masks follow the header; later versions include them.
  const maskBytes = masked && size === 40 ? (compression === compressions.masks ? 12 : 16) : 0;
  const paletteAt = at + size + maskBytes;
  const maxColours = bits <= 8 ? 2 ** bits : 0;
  const colours = bits <= 8 ? Math.min(coloursUsed || maxColours, maxColours) : 0;
  const colourBytes = size === coreHeaderBytes ? 3 : 4;
  return {
    width,
    height,
    topDown: rows < 0,
    bits: depth,
    coding,
    masks: masked
      ? readMasks(bytes, at, size, compression)
      : usualMasks(bytes, at, size, bits, isIcon),
    skips: false,
    palette: { at: paletteAt, colours, bytes: colourBytes },
    // Images with more than 8 bits can include a palette of suggested colours.
    pixelsAt: paletteAt + (bits <= 8 ? coloursUsed || maxColours : coloursUsed) * colourBytes,
  };
}

/** OS/2's two versions, and Microsoft's five. */
export const isHeaderSize = (size: number): boolean =>
  size === coreHeaderBytes ||
  (size >= 16 && size <= 64 && size % 4 === 0) ||
  size === 108 ||
  size === 124;

function readCore(bytes: Buffer, at: number) {
  return {
    width: bytes.readUInt16LE(at + 4),
    rows: bytes.readInt16LE(at + 6),
    bits: bytes.readUInt16LE(at + 10),
    compression: compressions.plain,
    coloursUsed: 0,
  };
}

function readInfo(bytes: Buffer, at: number, size: number) {
  return {
    width: bytes.readInt32LE(at + 4),
    rows: bytes.readInt32LE(at + 8),
    bits: bytes.readUInt16LE(at + 14),
    // OS/2's header can be shorter.
    compression: size >= 20 ? bytes.readUInt32LE(at + 16) : compressions.plain,
    coloursUsed: size >= 36 ? Math.min(bytes.readUInt32LE(at + 32), 65_536) : 0,
  };
}

/**
 * Returns null if unsupported. OS/2's second version reassigns 3 and 4; its header can be as long
 * as Microsoft's, but a bitmap with an embedded JPEG uses a later header or 0 bits.
 */
function toCoding(compression: number, bits: number, size: number) {
  if (compression === compressions.plain) return 'plain';
  if (compression === compressions.runs8 && bits === 8) return 'runs';
  if (compression === compressions.runs4 && bits === 4) return 'runs';
  if (compression === os2.runs24 && bits === 24 && size <= os2.headerBytes) return 'runs';
  const masked = compression === compressions.masks || compression === compressions.masks4;
  return masked && size !== 64 && (bits === 16 || bits === 32) ? 'plain' : null;
}

function readMasks(bytes: Buffer, at: number, size: number, compression: number): Masks {
  const hasAlpha = size >= 56 || compression === compressions.masks4;
  const mask = (index: number) => bytes.readUInt32LE(at + 40 + 4 * index);
  return [mask(0), mask(1), mask(2), hasAlpha ? mask(3) : 0];
}

/**
 * Returns masks that use a pixel's fourth byte as alpha in icons, and if the header includes an
 * alpha mask although its compression uses no masks.
 */
function usualMasks(bytes: Buffer, at: number, size: number, bits: number, isIcon: boolean): Masks {
  if (bits === 16) return [0x7c00, 0x03e0, 0x001f, 0];
  const alpha = 0xff000000;
  const alphaMask = size >= 56 && size !== os2.headerBytes ? bytes.readUInt32LE(at + 52) : 0;
  return [0xff0000, 0x00ff00, 0x0000ff, bits === 32 && (isIcon || alphaMask === alpha) ? alpha : 0];
}

function unsupportedBitmap(compression: number, bits: number): ServiceError {
  const names: Readonly<Record<number, string>> = {
    [compressions.jpeg]: 'with a JPEG inside',
    [compressions.png]: 'with a PNG inside',
  };
  const form = names[compression] ?? `of ${bits} bits a pixel in compression ${compression}`;
  return unsupported(
    `The source is a bitmap ${form}; bitmaps of 1, 2, 4, 8, 16, 24 and 32 bits are read, plain or run-length coded.`,
  );
}

export const corruptBitmap = (problem: string): ServiceError =>
  corrupt(`The source is a bitmap that ${problem}.`);

/** @throws ServiceError source_corrupt for truncated bytes */
export const parseBitmap = <T>(read: () => T): T =>
  parseBytes(read, () => corruptBitmap('ends too early'));

/**
 * Examines a bitmap, which contains no metadata. Checks its size before allocating memory.
 *
 * @throws ServiceError source_too_large, parameter_invalid for any page except 0
 */
export function examineBitmap(
  file: Container,
  { width, height }: BitmapHeader,
  hasAlpha: boolean,
  { sourceMaxPixels }: InspectionLimits,
  { page }: Pick<ExamineOptions, 'page'>,
): InspectionResult {
  if (page !== null) requirePage(page, 1);
  requirePixels(width * height, sourceMaxPixels);
  const { format } = file;
  const facts = { ...plainFacts, format, width, height, pages: 1, page, hasAlpha };
  return { facts, file };
}
