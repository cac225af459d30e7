import { Binary, BSONRegExp, BSONSymbol, Code, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import { numberKey } from './number.ts';
import { type Document, isArray, isNumber, type Value } from './value.ts';

/**
 * A text that two values share exactly when BSON's comparison calls them equal (1, 1.0 and
 * Long(1) do), for use as a Map's key. Every text says where it ends, so that texts can be joined.
 */
export function equalityKey(value: Value | undefined): string {
  if (value === undefined) return 'u;';
  if (value === null) return 'z;';
  if (typeof value === 'string') return text('s', value);
  if (typeof value === 'boolean') return value ? 't;' : 'f;';
  if (isNumber(value)) return `n${numberKey(value)};`;
  if (value instanceof ObjectId) return `o${value.toHexString()};`;
  if (value instanceof Date) return `d${value.getTime()};`;
  if (isArray(value)) return `a${value.map(equalityKey).join('')}]`;
  if (value instanceof BSONSymbol) return text('s', value.value);
  if (value instanceof Binary) return `b${value.sub_type}:${value.toString('base64')};`;
  if (value instanceof Timestamp) return `m${value.toString()};`;
  if (value instanceof BSONRegExp) return text('r', value.pattern) + text('', value.options);
  if (value instanceof Code) {
    return text('c', value.code) + (value.scope === null ? ';' : documentKey({ ...value.scope }));
  }
  if (value instanceof MinKey) return '-;';
  if (value instanceof MaxKey) return '+;';
  return documentKey(value);
}

function documentKey(document: Document): string {
  let key = '{';
  for (const [field, value] of Object.entries(document))
    key += text('', field) + equalityKey(value);
  return `${key}}`;
}

function text(mark: string, content: string): string {
  return `${mark}${content.length}:${content}`;
}
