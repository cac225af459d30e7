import { canonicalNames, flagName, type ImageOptions, textName } from './generated/parameters.ts';

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

const ownName = /^(url|project|exp|sig)$/;

/** Returns a parameter's option name for any of its spellings. */
export const canonicalName = (spelling: string): string => canonicalNames[spelling] ?? spelling;

/**
 * Returns the source in an image URL's path: unencoded if it starts with a scheme or a slash, else
 * fully encoded.
 */
const readSource = (path: string): string =>
  // Proxies turn `//` into `/`.
  /^(https?:)?\//i.test(path) ? path.replace(/^(\w+):\/(?!\/)/, '$1://') : decodeURIComponent(path);

function readValue(name: string, text: string): unknown {
  if (textName.test(name)) return text;
  if (/^(true|false)?$/i.test(text)) return !/f/i.test(text);
  if (flagName.test(name) && /^[01]$/.test(text)) return text === '1';
  if (!/^-?[\d.]+([,_]-?[\d.]+)*$/.test(text)) return text;
  return /[,_]/.test(text) ? text.split(/[,_]/).map(Number) : Number(text);
}

/** Parses the part of an image URL after `/img/` into source, project and options. */
export function readUrl(rest: string) {
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(rest) ?? [];
  const parameters = new URLSearchParams(query);
  const entries = [...parameters]
    .map(([spelling, text]) => [canonicalName(spelling), text] as const)
    .filter(([name]) => !ownName.test(name))
    .map(([name, text]) => [name, readValue(name, text)]);
  return {
    src: readSource(path) || parameters.get('url'),
    project: parameters.get('project'),
    options: Object.fromEntries(entries) as ImageOptions,
  };
}
