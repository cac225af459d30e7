import { createHash } from 'node:crypto';
import { type Document, ObjectId } from 'mongodb';

/** A text that is equal for equal documents, independent of the order of their fields. */
export function canonicalText(value: unknown): string {
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (value instanceof ObjectId) return `id ${value.toHexString()}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, own]) => `${JSON.stringify(name)}:${canonicalText(own)}`).join()}}`;
}

/** Equal for equal documents only. */
export const digestOf = (document: Document): string =>
  createHash('sha256').update(canonicalText(document)).digest('base64url');

/** A document without some of its fields. */
export function without(document: Document, fields: readonly string[]): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !fields.includes(name)));
}

/** The number of a field; undefined when there is none. */
export function numberAt(document: Document | undefined, path: string): number | undefined {
  let value: unknown = document;
  for (const name of path.split('.')) value = (value as Document | undefined)?.[name];
  return typeof value === 'number' ? value : undefined;
}

/** The SHA-256 of documents, in their order. */
export class DocumentsDigest {
  readonly #hash = createHash('sha256');

  add(document: Document): void {
    this.#hash.update(`${canonicalText(document)}\n`);
  }

  get text(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }
}
