import { optionInvalid } from './errors.ts';

/** A native parameter's value, and the other service's option that set it. */
export interface NativeValue {
  readonly text: string;
  readonly option: string;
}

/** Returns a value as text: numbers in decimal notation with at most six decimals. */
const toText = (value: string | number | boolean): string =>
  String(typeof value === 'number' ? Number(value.toFixed(6)) : value);

/**
 * This service's parameters by canonical name, and the URL's expiry as `exp`, in Unix seconds. The
 * service's table of parameters checks the values.
 */
export class NativeQuery {
  readonly #values: Map<string, NativeValue>;

  constructor(values: Iterable<readonly [string, NativeValue]> = []) {
    this.#values = new Map(values);
  }

  get(name: string): string | undefined {
    return this.#values.get(name)?.text;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** @param option as the URL names it */
  set(option: string, name: string, value: string | number | boolean): void {
    this.#values.set(name, { text: toText(value), option });
  }

  /** Mirrors the image. @throws UrlError parameter_invalid */
  setFlip(option: string, axes: string): void {
    if (!['h', 'v', 'hv'].includes(axes)) throw optionInvalid(option, 'must be h, v or hv');
    if (axes.includes('h')) this.set(option, 'flop', true);
    if (axes.includes('v')) this.set(option, 'flip', true);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  [Symbol.iterator](): IterableIterator<[string, NativeValue]> {
    return this.#values[Symbol.iterator]();
  }

  /** Returns the parameters in name order, joined with `&`. */
  toString(): string {
    const query = new URLSearchParams();
    for (const [name, { text }] of this.#values) query.append(name, text);
    query.sort();
    return query.toString();
  }
}
