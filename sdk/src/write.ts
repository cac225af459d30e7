/**
 * Percent-encodes all but unreserved characters (RFC 3986, 2.3), so that no intermediary encodes
 * more.
 */
export const encode = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * Returns an option value as text. Numbers get at most six decimals; several are separated by `_`,
 * because programs split srcsets at commas.
 */
export const toText = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(toText).join('_')
    : String(typeof value === 'number' ? Number(value.toFixed(6)) : value);

export type Texts = readonly (readonly [name: string, text: string])[];

/** The given options as texts, in one order for all URLs with the same ones. */
export const toTexts = (options: object): Texts =>
  Object.entries(options)
    .filter(([, value]) => value != null)
    .map(([name, value]) => [name, toText(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
