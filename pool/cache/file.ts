import { hash } from 'node:crypto';
import type { SourceState } from '../freshness.ts';
import { contentTypes, entityTag, type Image } from '../image.ts';

/**
 * The disk cache file format:
 *
 *     8 bytes   magic number, which includes the format version
 *     4 bytes   length of the header (big-endian)
 *     4 bytes   length of the body (big-endian)
 *     32 bytes  SHA-256 of the header
 *     header    JSON: key, and an image's fields without its body or, as `state`, a source's state
 *     body      the image; empty for a state
 *
 * The digest verifies the header, and the header's entity tag, a digest of the body, verifies the
 * body. So readers reject truncated, foreign and corrupt files.
 */
const magic = Buffer.from('IMGCACH4', 'latin1');
/** The bytes before the header, which determine the rest by its digests. */
export const fixedBytes = magic.length + 4 + 4 + 32;
/** A file's header is within this many bytes. */
export const maxHeadBytes = 4_096;

/** What a cache key stands for: an image, or a source's state. */
export type Cached = Image | SourceState;

interface Header extends Omit<Image, 'body'> {
  readonly key: string;
  /** Absent for an image. */
  readonly state?: SourceState;
}

const noBody = new Uint8Array();

/** Returns the file's parts in order, for `writev`. Does not copy the body. */
export function encodeFile(key: string, content: Cached): [Buffer, Uint8Array] {
  const { body, ...fields } = 'body' in content ? content : { body: noBody, state: content };
  const header = Buffer.from(JSON.stringify({ key, ...fields }));
  const fixed = Buffer.alloc(fixedBytes);
  magic.copy(fixed);
  fixed.writeUInt32BE(header.length, 8);
  fixed.writeUInt32BE(body.byteLength, 12);
  hash('sha256', header, 'buffer').copy(fixed, 16);
  return [Buffer.concat([fixed, header]), body];
}

/**
 * Returns the image in a file; null if the file is incomplete, corrupt or belongs to another key.
 */
export function decodeFile(key: string, file: Buffer): Image | null {
  const head = decodeHead(file);
  if (head === null || file.length !== head.end + file.readUInt32BE(12)) return null;
  const { key: ofKey, ...fields } = head.header;
  const body = file.subarray(head.end);
  if (ofKey !== key || fields.etag !== entityTag(body)) return null;
  return contentTypes.includes(fields.contentType) ? { ...fields, body } : null;
}

/** Returns the source's state in a file; null if the file is not a state, or like `decodeFile`. */
export function decodeState(key: string, file: Buffer): SourceState | null {
  const head = decodeHead(file);
  return head?.header.key === key ? (head.header.state ?? null) : null;
}

function decodeHead(file: Buffer) {
  if (file.length < fixedBytes || !file.subarray(0, magic.length).equals(magic)) return null;
  const end = fixedBytes + file.readUInt32BE(8);
  if (file.length < end) return null;
  const bytes = file.subarray(fixedBytes, end);
  const digest = hash('sha256', bytes, 'buffer');
  if (!digest.equals(file.subarray(16, fixedBytes))) return null;
  return { header: readHeader(bytes), end };
}

/** Returns a header's fields, which the digest has verified. */
function readHeader(bytes: Buffer): Header {
  try {
    return { ...JSON.parse(bytes.toString()) };
  } catch {
    return {} as Header;
  }
}
