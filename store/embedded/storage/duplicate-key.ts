import { Binary, Int32, ObjectId } from 'bson';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  setField,
  type Value,
} from '../bson/value.ts';
import { CommandError } from '../errors.ts';

/** The error of a broken unique index, in the form in which drivers and their users know it. */
export function duplicateKey(
  namespace: string,
  index: string,
  fields: readonly string[],
  values: readonly (Value | undefined)[],
  keyPattern: Document = { _id: new Int32(1) },
): CommandError {
  const keyValue: Document = {};
  fields.forEach((field, i) => {
    setField(keyValue, field, values[i] ?? null);
  });
  return new CommandError(
    11000,
    `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: ${shellText(keyValue)}`,
    { keyPattern, keyValue },
  );
}

/** The value as MongoDB's shell would write it. */
function shellText(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof ObjectId) return `ObjectId('${value.toHexString()}')`;
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof Binary) return `BinData(${value.sub_type}, ${value.toString('hex')})`;
  if (isArray(value)) return `[ ${value.map(shellText).join(', ')} ]`;
  if (isDocument(value)) {
    const fields = Object.entries(value).map(([field, inner]) => `${field}: ${shellText(inner)}`);
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
  }
  return isNumber(value) || typeof value === 'boolean' ? value.toString() : JSON.stringify(value);
}
