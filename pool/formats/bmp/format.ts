import {
  type BitmapHeader,
  examineBitmap,
  isHeaderSize,
  parseBitmap,
  readBitmapHeader,
} from '../bitmap/header.ts';
import { decodePixels, hasAlpha, isVisible, skipsPixels } from '../bitmap/pixels.ts';
import { asBuffer } from '../bytes.ts';
import { type RawPixels, rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';

/** Bytes in the file header, which precedes the bitmap header. */
const fileHeaderBytes = 14;

/** @throws ServiceError source_unsupported, source_corrupt */
function readBmp(source: Uint8Array): BitmapHeader {
  return parseBitmap(() => {
    const bytes = asBuffer(source);
    const header = readBitmapHeader(bytes, fileHeaderBytes, false);
    if (header.coding === 'plain') return header;
    return { ...header, skips: skipsPixels(bytes, pixelsAt(bytes, header), header) };
  });
}

/** Returns the offset in the file header, unless it points into the palette. */
function pixelsAt(bytes: Buffer, header: BitmapHeader): number {
  const offset = bytes.readUInt32LE(10);
  return offset >= header.palette.at ? offset : header.pixelsAt;
}

/**
 * Decodes a BMP. No npm package decodes all well-formed files of bmpsuite: packages lack run
 * lengths, bit fields or OS/2 headers, ignore the offset of the pixels, or stop after the first row
 * of an odd width.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
function decodeBmp(source: Uint8Array): RawPixels {
  const bytes = asBuffer(source);
  const header = readBmp(source);
  return parseBitmap(() => {
    const pixels = decodePixels(bytes, pixelsAt(bytes, header), header);
    // Some writers declare an alpha mask but leave alpha 0: browsers show such images as opaque.
    if (header.masks[3] !== 0 && !isVisible(pixels)) {
      for (let at = 3; at < pixels.data.length; at += 4) pixels.data[at] = 255;
    }
    return pixels;
  });
}

/** BMP, which the service decodes itself. */
export const bmp: SourceFormat = {
  ...rawFile,
  name: 'bmp',
  label: 'BMP',
  extensions: ['bmp'],
  // Checks the header too, because many texts start with BM.
  matches: (text, head) =>
    text.startsWith('BM') && head.length >= 26 && isHeaderSize(head.readUInt32LE(14)),
  // Decoded to pixels that sharp copies.
  cost: { ms: 40, bytes: 8 },
  examine: async (file, limits, options) => {
    const header = readBmp(file.bytes);
    return examineBitmap(file, header, hasAlpha(header), limits, options);
  },
  open: ({ file }) => rawInput(decodeBmp(file.bytes)),
};
