import { type BitmapHeader, corrupt, readBitmapHeader } from './header.ts';
import { decodePixels, type RawPixels } from './pixels.ts';

/** The header of the file, before that of the bitmap. */
const fileHeaderBytes = 14;

/**
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function readBmp(source: Uint8Array): BitmapHeader {
  return bounded(() => readBitmapHeader(bytesOf(source), fileHeaderBytes, false));
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
  const named = bytes.readUInt32LE(10);
  const at = named >= header.palette.at ? named : header.pixelsAt;
  return bounded(() => decodePixels(bytes, at, header));
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
