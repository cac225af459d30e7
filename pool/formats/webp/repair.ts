import { asBuffer } from '../bytes.ts';
import { headBytes, roles, webpParts } from './parts.ts';

/** Maximum missing bytes to add to a chunk, as a multiple of the file's size. */
const maxAdded = 8;

/**
 * Corrects a WebP's size in its header, or adds its last padding byte, in a copy, as browsers do.
 * Returns the same bytes for other files.
 */
export const withWebpSize = (source: Uint8Array): Uint8Array => sized(source, false);

/**
 * Repairs like `withWebpSize`, including truncated files: missing image bytes become zeros, and an
 * incomplete animation frame is dropped.
 */
export const withWebpPixels = (source: Uint8Array): Uint8Array => sized(source, true);

function sized(source: Uint8Array, lenient: boolean): Uint8Array {
  const file = asBuffer(source);
  for (const { role } of webpParts(file)) if (role === 'end') return source;
  let hasImage = false;
  let end = headBytes;
  while (end + 8 <= file.length) {
    const type = file.toString('latin1', end, end + 4);
    const length = file.readUInt32LE(end + 4);
    const to = end + 8 + length + (length & 1);
    // Bytes behind the chunks do not belong to the image.
    if (roles[type] === undefined) break;
    const isFrame = roles[type] === 'frame';
    const isCut = end + 8 + length > file.length;
    if (isCut && (!lenient || to > (1 + maxAdded) * file.length)) return source;
    if (isCut && isFrame && hasImage) break;
    hasImage ||= isFrame || type === 'VP8 ' || type === 'VP8L';
    end = to;
  }
  if (!hasImage) return source;
  const copy = Buffer.alloc(end);
  file.copy(copy, 0, 0, end);
  copy.writeUInt32LE(end - 8, 4);
  return copy;
}
