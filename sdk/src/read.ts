import { canonicalNames, flagName, type ImageOptions, textName } from './generated/parameters.ts';

const ownName = /^(url|project|exp|sig)$/;

/** The name of a parameter in options, for any of its names. */
export const canonicalName = (spelling: string): string => canonicalNames[spelling] ?? spelling;

/** The source in the path of an image URL: unencoded if it starts with a scheme or a slash, else encoded as a whole. */
const readSource = (path: string): string =>
  // Proxies turn `//` into `/`.
  /^(https?:)?\//i.test(path) ? path.replace(/^(\w+):\/(?!\/)/, '$1://') : decodeURIComponent(path);

function readValue(name: string, text: string): unknown {
  if (textName.test(name)) return text;
  if (/^(true|false)?$/i.test(text)) return !/f/i.test(text);
  if (flagName.test(name)) return text === '1';
  if (!/^-?[\d.]+([,_]-?[\d.]+)*$/.test(text)) return text;
  return /[,_]/.test(text) ? text.split(/[,_]/).map(Number) : Number(text);
}

/** The source, the project and the options of the part of an image URL after `/img/`. */
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
