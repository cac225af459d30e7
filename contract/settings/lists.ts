import {
  isDnsServer,
  type Ports,
  type PrivateSource,
  parsePort,
  parsePrivateSource,
} from '../networks.ts';
import { isWebhookSecret } from '../secrets.ts';

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

const allNetworks = [parsePrivateSource('0.0.0.0/0:*'), parsePrivateSource('[::/0]:*')];

/**
 * Parses hosts, which include their subdomains, and networks, as curl and Go read them in NO_PROXY.
 * Ignores other entries, because the variable is meant for all programs of the machine.
 */
export const parseNoProxy = (list: string): readonly PrivateSource[] =>
  list
    .split(/[\s,]+/)
    .flatMap((entry): (PrivateSource | null)[] => {
      if (entry === '*') return allNetworks;
      const hasPort = /^(?:\[[^\]]*\]|[^:]*):\d+$/.test(entry);
      const parsed = parsePrivateSource(entry.replace(/^\*?\./, ''));
      if (parsed === null) return [];
      const any = hasPort ? parsed : { ...parsed, ports: null };
      return 'hosts' in any ? [any, { ...any, hosts: `*.${any.hosts}` }] : [any];
    })
    .filter((entry) => entry !== null);

export function parseEncryptionKeys(list: string): readonly EncryptionKey[] | undefined {
  const keys = parseList(list, parseEncryptionKey);
  return keys && new Set(keys.map(({ id }) => id)).size === keys.length ? keys : undefined;
}

/** Returns one secret, or two during a rotation. */
export function parseWebhookSecrets(list: string): readonly string[] | undefined {
  const secrets = parseList(list, (secret) => (isWebhookSecret(secret) ? secret : null));
  return secrets?.length === 1 || secrets?.length === 2 ? secrets : undefined;
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

/** The project ('' for no project) and image URLs that the playground opens. */
export interface ConsolePictures {
  readonly project: string;
  readonly urls: readonly string[];
}

/** Maximum length; the page contains the whole value. Linux limits an environment variable to 128 KiB. */
export const maxPicturesText = 65_536;

/** Returns undefined for an unparsable text. */
export function parsePictures(list: string): ConsolePictures | undefined {
  if (list.length > maxPicturesText || !/^[\w-]+( +https?:\/\/[^ ]+)*$/u.test(list))
    return undefined;
  const [project = '', ...urls] = list.split(/ +/);
  return { project, urls };
}

export interface EncryptionKey {
  /** Stored unencrypted next to each text that the key encrypts. */
  readonly id: string;
  /** 32 bytes in Base64. */
  readonly secret: string;
}

/** Parses `id:secret`; null for other texts. */
export function parseEncryptionKey(text: string): EncryptionKey | null {
  const [, id = '', secret = ''] = /^([a-z\d_-]{1,32}):([A-Za-z\d+/]{43}=)$/.exec(text) ?? [];
  const bytes = Buffer.from(secret, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === secret ? { id, secret } : null;
}
