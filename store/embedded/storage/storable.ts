import { type Document, decode, encode, isArray, isDocument, type Value } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { maxDocumentBytes } from '../limits.ts';

const maxDocumentDepth = 100;

export interface StorableDocument {
  readonly document: Document;
  readonly bytes: Uint8Array;
}

/**
 * Validates a document before storing it. The result shares no memory with the request message and
 * equals the document after a restart.
 * @throws {ReplyError} 10334 for an oversized document, 15 for excessive nesting, 52 for a field
 *   name with a leading `$`, 2 for an array as `_id`.
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
