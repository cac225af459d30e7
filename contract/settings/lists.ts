import { type EncryptionKey, parseEncryptionKey } from '../encryption-keys.ts';
import { isDnsServer } from '../networks.ts';
import { type Ports, parsePort } from '../private-sources.ts';

/** The entries of a comma-separated list that are not empty. */
export const splitEntries = (list: string): readonly string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/**
 * Parses a comma-separated list; undefined when an entry is not valid.
 * @param parse returns null for an entry that is not valid
 */
export function parseList<E>(list: string, parse: (entry: string) => E | null): E[] | undefined {
  const entries = splitEntries(list).map(parse);
  const valid = entries.filter((entry) => entry !== null);
  return valid.length === entries.length ? valid : undefined;
}

export function parsePorts(list: string): Ports | undefined {
  const ports = parseList(list, (entry) => (entry === '*' ? entry : parsePort(entry)));
  if (ports === undefined || ports.length === 0) return undefined;
  const numbers = ports.filter((port) => port !== '*');
  return numbers.length === ports.length ? numbers : null;
}

export function parseEncryptionKeys(list: string): readonly EncryptionKey[] | undefined {
  const keys = parseList(list, parseEncryptionKey);
  return keys && new Set(keys.map(({ id }) => id)).size === keys.length ? keys : undefined;
}

export function parseDnsServers(list: string): readonly string[] | undefined {
  const servers = parseList(list, (entry) => (isDnsServer(entry) ? entry : null));
  return servers?.length === 0 ? undefined : servers;
}

/**
 * The end of a name determines the separator between tags. No other image header ends this way,
 * except ETag.
 */
const tagHeaderPattern = /^(?!etag$)[a-z0-9-]{0,60}(tag|key)$/;

export function parseTagHeaders(list: string): readonly string[] | undefined {
  if (list === 'none') return [];
  const names = parseList(list.toLowerCase(), (name) =>
    tagHeaderPattern.test(name) ? name : null,
  );
  return names?.length === 0 ? undefined : names && Array.from(new Set(names));
}
