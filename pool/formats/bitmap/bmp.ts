import { type BitmapHeader, corrupt, readBitmapHeader } from './header.ts';
import { decodePixels, isVisible, type RawPixels } from './pixels.ts';
import { skipsPixels } from './runs.ts';

/** The header of the file, before that of the bitmap. */
const fileHeaderBytes = 14;

/**
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function readBmp(source: Uint8Array): BitmapHeader {
  return bounded(() => {
    const bytes = bytesOf(source);
    const header = readBitmapHeader(bytes, fileHeaderBytes, false);
    if (header.coding === 'plain') return header;
    return { ...header, skips: skipsPixels(bytes, pixelsAt(bytes, header), header) };
  });
}

/** As the file says, unless that is before the palette. */
function pixelsAt(bytes: Buffer, header: BitmapHeader): number {
  const named = bytes.readUInt32LE(10);
  return named >= header.palette.at ? named : header.pixelsAt;
}

/**
 * The pixels of a BMP. None of the packages on npm reads all of the well-formed files of bmpsuite:
 * they leave out run lengths, bit fields or OS/2's headers, ignore where the pixels begin, or stop
 * after the first row of an odd width.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function decodeBmp(source: Uint8Array): RawPixels {
  const bytes = bytesOf(source);
  const header = readBmp(source);
  return bounded(() => {
    const pixels = decodePixels(bytes, pixelsAt(bytes, header), header);
    // Some writers have a mask for alpha, and no alpha: browsers show such pictures.
    if (header.masks[3] !== 0 && !isVisible(pixels)) makeOpaque(pixels.data);
    return pixels;
  });
}

function makeOpaque(data: Buffer): void {
  for (let at = 3; at < data.length; at += 4) data[at] = 255;
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** @throws ServiceError source_corrupt where bytes are read that are not there */
export function bounded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw corrupt('ends too early');
    throw error;
  }
}
