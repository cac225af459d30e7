import { type Document, decode, encode, isArray, isDocument, type Value } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import { MAX_DOCUMENT_BYTES } from '../limits.ts';

const MAX_DOCUMENT_DEPTH = 100;

/** A valid document, and its BSON. */
export interface StorableDocument {
  readonly document: Document;
  readonly bytes: Uint8Array;
}

/**
 * Validates a document before it is stored. The result shares no memory with the request message,
 * and equals the document as read from disk after a restart.
 * @throws {CommandError} 10334 when it is too large, 15 when nested too deep, 52 for a field name
 *   that begins with `$`, 2 for an `_id` that is an array.
 */
export function toStorable(document: Document): StorableDocument {
  refuseUnstorable(document, 1);
  const identity = document['_id'];
  if (isArray(identity)) throw new CommandError(2, "can't use an array for _id");
  const bytes = encode(document);
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new CommandError(
      10334,
      `the document is too large: ${bytes.length} bytes, max size: ${MAX_DOCUMENT_BYTES}`,
    );
  }
  return { document: decode(bytes), bytes };
}

function refuseUnstorable(value: Value, depth: number): void {
  if (depth > MAX_DOCUMENT_DEPTH) {
    throw new CommandError(15, `nested deeper than ${MAX_DOCUMENT_DEPTH} levels`);
  }
  if (isArray(value)) {
    for (const element of value) refuseUnstorable(element, depth + 1);
  } else if (isDocument(value)) {
    for (const [field, inner] of Object.entries(value)) {
      if (field.startsWith('$')) {
        throw new CommandError(52, `the field name '${field}' must not begin with '$'`);
      }
      if (typeof inner === 'object' && inner !== null) refuseUnstorable(inner, depth + 1);
    }
  }
}
