import { safeInteger } from '../bson/number.ts';
import { type Document, getField, isNumber, setField } from '../bson/value.ts';
import { notSupported } from '../errors.ts';

export type Projection = (document: Document) => Document;

/**
 * Parses a projection that lists the fields to return in addition to `_id`.
 * @throws {ReplyError} 115 for any other projection
 */
export function parseProjection(projection: Document): Projection {
  for (const [field, value] of Object.entries(projection)) {
    const wanted = isNumber(value) && safeInteger(value) === 1;
    if (!wanted || field.includes('.') || field.startsWith('$')) {
      throw notSupported(
        `the projection of '${field}' with a value other than 1, or of a nested field`,
      );
    }
  }
  const fields = new Set(['_id', ...Object.keys(projection)]);
  return (document) => {
    const result: Document = {};
    // Keeps the document's field order.
    for (const field of Object.keys(document)) {
      if (fields.has(field)) setField(result, field, getField(document, field) ?? null);
    }
    return result;
  };
}
