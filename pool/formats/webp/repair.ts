import { bufferOf } from '../bytes.ts';
import { headBytes, roles, webpParts } from './parts.ts';

/** Missing bytes of a chunk that are added, as a multiple of the file's. */
const maxAdded = 8;

/**
 * A WebP with a wrong size in its header, or without its last padding byte, in a copy with the right one, as browsers read
 * it. The same bytes for any other one.
 */
export const withWebpSize = (source: Uint8Array): Uint8Array => sized(source, false);

/**
 * As `withWebpSize`, also for a truncated one: the bytes that are missing in its image are zeros, and a frame of an
 * animation without all bytes is left out.
 */
export const withWebpPixels = (source: Uint8Array): Uint8Array => sized(source, true);

function sized(source: Uint8Array, lenient: boolean): Uint8Array {
  const file = bufferOf(source);
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
