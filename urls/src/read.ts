import {
  optionInvalid,
  type Source,
  sourceInvalid,
  UrlError,
  type UrlHost,
} from './translation.ts';

/** Returns a table's row, ignoring the names that every object inherits. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Enough for all parameters and those that caches and trackers add. */
export const maxParameters = 100;

/** A request head can hold thousands. */
export function hasTooManyParameters(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf('&'); at !== -1; at = query.indexOf('&', at + 1)) {
    count += 1;
    if (count > maxParameters) return true;
  }
  return false;
}

/** @throws UrlError parameter_invalid if there are too many parameters */
export function parseQuery(query: string): URLSearchParams {
  if (!hasTooManyParameters(query)) return new URLSearchParams(query);
  const message = `The query has more than ${maxParameters} parameters.`;
  throw new UrlError('parameter_invalid', message);
}

/** Percent-decodes a text once; returns null if it is not valid UTF-8 or percent-encoding. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** @throws UrlError parameter_invalid naming the option */
export function decodeOption(option: string, text: string): string {
  const decoded = percentDecode(text);
  if (decoded === null) throw optionInvalid(option, 'is not encoded properly');
  return decoded;
}

/** @throws UrlError source_invalid */
export function decodeSource(text: string, what = 'The source URL in the path'): string {
  const decoded = percentDecode(text);
  if (decoded === null) throw sourceInvalid(`${what} is not encoded properly.`);
  return decoded;
}

/** Restores the slashes after a scheme: proxies that normalise paths turn `//` into `/`. */
export const withBothSlashes = (text: string): string =>
  text.replace(/^(https?):\/(?!\/)/i, '$1://');

/** Returns whether a text begins with a scheme and a host. */
export const isAbsolute = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** Returns a source's path in canonical form, or '' if its URL is invalid. */
export function readPathname(source: Source): string {
  const url = 'url' in source ? source.url.trim() : `http://host.invalid${source.path}`;
  return URL.canParse(url) ? new URL(url).pathname : '';
}

const decimal = /^-?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})$/;

/**
 * Reads a number in decimal notation.
 * @throws UrlError parameter_invalid naming the option
 */
export function readNumber(
  option: string,
  text: string,
  minimum: number,
  maximum = 999_999_999_999,
): number {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value + 0;
  throw optionInvalid(option, `must be a number from ${minimum} to ${maximum}`);
}

/** @throws UrlError parameter_invalid naming the option */
export function readInteger(option: string, text: string, minimum: number, maximum?: number) {
  const value = readNumber(option, text, minimum, maximum);
  if (Number.isInteger(value)) return value;
  throw optionInvalid(option, 'must be a whole number');
}

/**
 * Returns the fault of an expiry unless it is in whole Unix seconds, or null. Most languages count
 * milliseconds.
 */
export function expiryFault(name: string, text: string): string | null {
  if (/^\d{1,12}$/.test(text)) return null;
  const rule = `${name} must be a Unix time in whole seconds, such as 1796083200`;
  return /^\d{13,16}$/.test(text) ? `${rule}, not milliseconds.` : `${rule}.`;
}

/**
 * Reads an expiry in Unix seconds.
 * @throws UrlError parameter_invalid naming the option
 */
export function readExpiry(option: string, text: string): number {
  const fault = expiryFault(option, text);
  if (fault !== null) throw new UrlError('parameter_invalid', fault);
  return Number(text);
}

/**
 * Reads `W:H`. Returns the quotient if a side is below 1.
 * @throws UrlError parameter_invalid naming the option
 */
export function readRatio(option: string, text: string, rule = 'must be W:H'): string | number {
  const sides = text.split(':', 3);
  if (sides.length !== 2) throw optionInvalid(option, rule);
  const [width = 1, height = 1] = sides.map((side) => readNumber(option, side, 0.0001, 10_000));
  return width >= 1 && height >= 1 ? `${width}:${height}` : width / height;
}

/**
 * Checks an option for the source's metadata, which the project decides here.
 * @param strips whether the option removes the metadata
 * @throws UrlError parameter_invalid naming the option
 */
export function requireMetadata(option: string, host: UrlHost, strips: boolean): void {
  if (host.stripMetadata === strips) return;
  throw optionInvalid(option, "differs from the project's stripMetadata");
}

/** Gravities by CSS side name. */
export const sideGravities: Readonly<Record<string, string>> = {
  top: 'north',
  right: 'east',
  bottom: 'south',
  left: 'west',
};
