import { createHash } from 'node:crypto';
import { entityTag, type Image } from '../image.ts';

/**
 * The format of a disk cache file:
 *
 *     8 bytes   magic number, which includes the format version
 *     4 bytes   length of the header (big-endian)
 *     4 bytes   length of the body (big-endian)
 *     32 bytes  SHA-256 of the header
 *     header    JSON: key, content type, entity tag, width, height
 *     body      the image
 *
 * The digest verifies the header, and the entity tag in the header, which is a digest of the body, verifies
 * the body. So truncated, foreign and corrupt files are not accepted.
 */
const magic = Buffer.from('IMGCACH1', 'latin1');
const fixedBytes = magic.length + 4 + 4 + 32;

interface Header extends Omit<Image, 'body'> {
  readonly key: string;
}

/** The parts of the file in order, for `writev`. The body is not copied. */
export function encodeFile(key: string, image: Image): [Buffer, Uint8Array] {
  const { body, ...fields } = image;
  const header = Buffer.from(JSON.stringify({ key, ...fields } satisfies Header));
  const fixed = Buffer.alloc(fixedBytes);
  magic.copy(fixed);
  fixed.writeUInt32BE(header.length, 8);
  fixed.writeUInt32BE(body.byteLength, 12);
  createHash('sha256').update(header).digest().copy(fixed, 16);
  return [Buffer.concat([fixed, header]), body];
}

/** The image in a file; null when the file is incomplete, corrupt or of another key. */
export function decodeFile(key: string, file: Buffer): Image | null {
  if (file.length < fixedBytes || !file.subarray(0, 8).equals(magic)) return null;
  const headerEnd = fixedBytes + file.readUInt32BE(8);
  if (file.length !== headerEnd + file.readUInt32BE(12)) return null;
  const headerBytes = file.subarray(fixedBytes, headerEnd);
  const digest = createHash('sha256').update(headerBytes).digest();
  if (!digest.equals(file.subarray(16, fixedBytes))) return null;
  const { contentType, etag, width, height, ...header } = readHeader(headerBytes);
  const body = file.subarray(headerEnd);
  if (header.key !== key || etag !== entityTag(body)) return null;
  if (typeof contentType !== 'string') return null;
  if (typeof width !== 'number' || typeof height !== 'number') return null;
  return { body, contentType, etag, width, height };
}

/** The fields of a header; empty when it is not a JSON object. */
function readHeader(bytes: Buffer): Partial<Record<keyof Header, unknown>> {
  try {
    const header: unknown = JSON.parse(bytes.toString());
    return typeof header === 'object' && header !== null ? header : {};
  } catch {
    return {};
  }
}
