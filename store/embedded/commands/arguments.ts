import { Long } from 'bson';
import { wholeNumber } from '../bson/number.ts';
import {
  type Document,
  fieldOf,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';

/**
 * Takes a command (or a statement of one) apart field by field. What is left over at the end is an
 * option that this server does not know, and refused: it might have changed the result.
 */
export class Arguments {
  readonly #document: Document;
  readonly #where: string;
  readonly #left: Set<string>;

  /** @param where the command's name, for messages */
  constructor(document: Document, where: string) {
    this.#document = document;
    this.#where = where;
    this.#left = new Set(Object.keys(document));
  }

  value(field: string): Value | undefined {
    this.#left.delete(field);
    return fieldOf(this.#document, field);
  }

  /** Takes fields that cannot change the result. */
  ignore(...fields: string[]): void {
    for (const field of fields) this.#left.delete(field);
  }

  /** Takes fields that change nothing as long as they are false. */
  refuseTrue(...fields: string[]): void {
    for (const field of fields) {
      if (this.flag(field, false)) throw this.#refused(field);
    }
  }

  text(field: string): string {
    const value = this.value(field);
    if (typeof value === 'string') return value;
    throw this.#mistyped(field, 'a string');
  }

  flag(field: string, absent: boolean): boolean {
    const value = this.value(field);
    if (value === undefined) return absent;
    if (typeof value === 'boolean') return value;
    const whole = isNumber(value) ? wholeNumber(value) : null;
    if (whole === null) throw this.#mistyped(field, 'a bool');
    return whole !== 0;
  }

  document(field: string): Document {
    const value = this.value(field);
    if (isDocument(value)) return value;
    throw this.#mistyped(field, 'an object');
  }

  optionalDocument(field: string): Document | undefined {
    return this.#absent(field) ? undefined : this.document(field);
  }

  array(field: string): readonly Value[] {
    const value = this.value(field);
    if (isArray(value)) return value;
    throw this.#mistyped(field, 'an array');
  }

  documents(field: string): readonly Document[] {
    return this.array(field).map((element) => {
      if (isDocument(element)) return element;
      throw this.#mistyped(field, 'an array of objects');
    });
  }

  /** A whole number from 0. */
  count(field: string): number | undefined {
    const value = this.value(field);
    if (value === undefined || value === null) return undefined;
    const whole = isNumber(value) ? wholeNumber(value) : null;
    if (whole === null) throw this.#mistyped(field, 'a whole number');
    if (whole < 0) throw new CommandError(2, `${this.#where}.${field} must be at least 0`);
    return whole;
  }

  long(field: string): Long {
    const value = this.value(field);
    if (value instanceof Long) return value;
    throw this.#mistyped(field, 'a long');
  }

  /** @throws {CommandError} 115 naming the first field that nobody took. */
  end(): void {
    for (const field of this.#left) throw this.#refused(field);
  }

  #absent(field: string): boolean {
    const value = this.value(field);
    return value === undefined || value === null;
  }

  #mistyped(field: string, wanted: string): CommandError {
    return new CommandError(14, `${this.#where}.${field} must be ${wanted}`);
  }

  #refused(field: string): CommandError {
    return notSupported(`the option '${this.#where}.${field}'`);
  }
}
