import { createHash } from 'node:crypto';
import { entityTag, type Image } from '../image.ts';

/**
 * The format of a disk cache file:
 *
 *     8 bytes   magic, which names the format's version
 *     4 bytes   length of the head (big-endian)
 *     4 bytes   length of the body (big-endian)
 *     32 bytes  SHA-256 of the head
 *     head      JSON: key, content type, entity tag, width, height
 *     body      the image
 *
 * The head is covered by its digest and the body by the head's entity tag, which is the body's
 * own digest; so a torn, foreign or corrupted file cannot pass for an image.
 */
const magic = Buffer.from('IMGCACH1', 'latin1');
const fixedBytes = magic.length + 4 + 4 + 32;

interface Head extends Omit<Image, 'body'> {
  readonly key: string;
}

/** The file as the parts to be written one after the other; the body is not copied. */
export function encodeFile(key: string, image: Image): [Buffer, Uint8Array] {
  const { body, ...facts } = image;
  const head = Buffer.from(JSON.stringify({ key, ...facts } satisfies Head));
  const fixed = Buffer.alloc(fixedBytes);
  magic.copy(fixed);
  fixed.writeUInt32BE(head.length, 8);
  fixed.writeUInt32BE(body.byteLength, 12);
  createHash('sha256').update(head).digest().copy(fixed, 16);
  return [Buffer.concat([fixed, head]), body];
}

/** The image in a file's bytes, or null when they are not a whole, sound file of that key. */
export function decodeFile(key: string, file: Buffer): Image | null {
  if (file.length < fixedBytes || !file.subarray(0, 8).equals(magic)) return null;
  const headEnd = fixedBytes + file.readUInt32BE(8);
  if (file.length !== headEnd + file.readUInt32BE(12)) return null;
  const headBytes = file.subarray(fixedBytes, headEnd);
  const digest = createHash('sha256').update(headBytes).digest();
  if (!digest.equals(file.subarray(16, fixedBytes))) return null;
  const { contentType, etag, width, height, ...head } = readHead(headBytes);
  const body = file.subarray(headEnd);
  if (head.key !== key || etag !== entityTag(body)) return null;
  if (typeof contentType !== 'string') return null;
  if (typeof width !== 'number' || typeof height !== 'number') return null;
  return { body, contentType, etag, width, height };
}

/** A head's fields; none of them when it is not what this format holds, under whatever digest. */
function readHead(bytes: Buffer): Partial<Record<keyof Head, unknown>> {
  try {
    const head: unknown = JSON.parse(bytes.toString());
    return typeof head === 'object' && head !== null ? head : {};
  } catch {
    return {};
  }
}
