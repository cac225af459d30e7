import { type Document, decode, encode, isArray, isDocument, type Value } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { maxDocumentBytes } from '../limits.ts';

const maxDocumentDepth = 100;

export interface StorableDocument {
  readonly document: Document;
  readonly bytes: Uint8Array;
}

/**
 * Validates a document before it is stored. The result shares no memory with the request message,
 * and is the same as after a restart.
 * @throws {ReplyError} 10334 when it is too large, 15 when nested too deep, 52 for a field name
 *   that begins with `$`, 2 for an `_id` that is an array.
 */
export function toStorable(document: Document): StorableDocument {
  checkStorable(document, 1);
  const identity = document['_id'];
  if (isArray(identity)) throw new ReplyError(2, "can't use an array for _id");
  const bytes = encode(document);
  if (bytes.length > maxDocumentBytes) {
    throw new ReplyError(
      10334,
      `the document is too large: ${bytes.length} bytes, max size: ${maxDocumentBytes}`,
    );
  }
  return { document: decode(bytes), bytes };
}

function checkStorable(value: Value, depth: number): void {
  if (depth > maxDocumentDepth) {
    throw new ReplyError(15, `nested deeper than ${maxDocumentDepth} levels`);
  }
  if (isArray(value)) {
    for (const element of value) checkStorable(element, depth + 1);
  } else if (isDocument(value)) {
    for (const [field, inner] of Object.entries(value)) {
      if (field.startsWith('$')) {
        throw new ReplyError(52, `the field name '${field}' must not begin with '$'`);
      }
      if (typeof inner === 'object' && inner !== null) checkStorable(inner, depth + 1);
    }
  }
}
