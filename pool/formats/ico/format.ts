import {
  type BitmapHeader,
  corruptBitmap,
  examineBitmap,
  parseBitmap,
  readBitmapHeader,
} from '../bitmap/header.ts';
import { decodePixels, hasAlpha, isVisible, stride } from '../bitmap/pixels.ts';
import { asBuffer, textAt } from '../bytes.ts';
import { openAs } from '../container/container.ts';
import { hasExcessMetadata } from '../isolation.ts';
import { png } from '../png/format.ts';
import { pngSignature } from '../png/parts.ts';
import { type RawPixels, rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';

/** The largest image in an ICO or CUR: a whole PNG, or a bitmap that lacks the file header. */
type Icon =
  | { readonly png: Buffer }
  | { readonly png: null; readonly bytes: Buffer; readonly header: BitmapHeader };

const directoryBytes = 6;
const entryBytes = 16;
/** The type of an ICO; a CUR has type 2. */
const iconType = 1;

/** @throws ServiceError source_unsupported, source_corrupt */
function readIcon(source: Uint8Array): Icon {
  return parseBitmap(() => {
    const file = asBuffer(source);
    let best: { bytes: Buffer; pixels: number; bits: number } | null = null;
    for (let entry = 0; entry < file.readUInt16LE(4); entry += 1) {
      // Ignores the entry's length: some writers store wrong lengths, and decoders do not need
      // them.
      const at = directoryBytes + entryBytes * entry;
      const bytes = file.subarray(file.readUInt32LE(at + 12));
      // A PNG with few colours can claim all bits; in a CUR the field is a coordinate.
      const entryBits = file.readUInt16LE(2) === iconType ? file.readUInt16LE(at + 6) : 0;
      const image = { bytes, ...readSize(bytes, entryBits) };
      const isLarger = best === null || image.pixels > best.pixels;
      if (isLarger || (image.pixels === best?.pixels && image.bits > best.bits)) best = image;
    }
    if (best === null) throw corruptBitmap('has no picture');
    const { bytes } = best;
    if (isPng(bytes)) return { png: bytes };
    return { png: null, bytes, header: readBitmapHeader(bytes, 0, true) };
  });
}

const isPng = (bytes: Buffer) => bytes.subarray(0, pngSignature.length).equals(pngSignature);

/**
 * Returns the size in the image's own header: the directory stores a side in one byte, and can be
 * wrong.
 */
function readSize(bytes: Buffer, entryBits: number): { pixels: number; bits: number } {
  if (isPng(bytes)) {
    return { pixels: bytes.readUInt32BE(16) * bytes.readUInt32BE(20), bits: entryBits || 32 };
  }
  const pixels = Math.abs((bytes.readInt32LE(4) * bytes.readInt32LE(8)) / 2);
  return { pixels, bits: bytes.readUInt16LE(14) };
}

/**
 * Decodes an ICO's largest image if it is a bitmap. Applies its mask if the bitmap itself is
 * opaque.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
function decodeIcon(source: Uint8Array): RawPixels {
  return parseBitmap(() => {
    const icon = readIcon(source);
    if (icon.png !== null) throw new Error('The PNG of an icon is opened as a file.');
    const { bytes, header } = icon;
    const { width, height, bits } = header;
    const pixels = decodePixels(bytes, header.pixelsAt, header, 4);
    // Old icons leave the fourth byte 0 everywhere.
    if (hasAlpha(header) && isVisible(pixels)) return pixels;
    const maskAt = header.pixelsAt + stride(width, bits) * height;
    const rowBytes = stride(width, 1);
    for (let row = 0; row < height; row += 1) {
      const to = (height - 1 - row) * width;
      for (let x = 0; x < width; x += 1) {
        // A missing mask hides no pixel.
        const byte = bytes[maskAt + row * rowBytes + (x >> 3)] ?? 0;
        pixels.data[4 * (to + x) + 3] = (byte >> (7 - (x & 7))) & 1 ? 0 : 255;
      }
    }
    return pixels;
  });
}

const signature = textAt(0, '\0\0\x01\0', '\0\0\x02\0');

/** ICO and CUR: uses the largest image, a bitmap or a PNG. */
export const ico: SourceFormat = {
  ...rawFile,
  name: 'ico',
  label: 'ICO',
  extensions: ['ico'],
  // An icon or cursor whose first image follows the directory.
  matches: (text, head) => {
    if (!signature(text, head) || head.length < 22) return false;
    const images = head.readUInt16LE(4);
    return images > 0 && head.readUInt32LE(18) >= 6 + 16 * images;
  },
  cost: { ms: 55, bytes: 8 },
  hidesMetadata: ({ bytes }) => {
    const icon = readIcon(bytes);
    return icon.png !== null && hasExcessMetadata(openAs(png, icon.png));
  },
  examine: async (file, limits, options) => {
    const icon = readIcon(file.bytes);
    if (icon.png === null) return examineBitmap(file, icon.header, true, limits, options);
    const examined = await png.examine(openAs(png, icon.png), limits, options);
    return { ...examined, facts: { ...examined.facts, format: ico } };
  },
  open: ({ file }) => rawInput(decodeIcon(file.bytes)),
};
