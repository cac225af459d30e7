import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import {
  defaultAutoFormats,
  type NegotiableFormat,
  negotiableFormats,
  parseAutoFormats,
} from '../auto-formats.ts';
import { type EncryptionKey, parseEncryptionKey } from '../encryption-keys.ts';
import { isDnsServer, type Network, parseNetwork } from '../networks.ts';
import { type OriginEntry, parseOrigins, secretsOfOrigins } from '../origins.ts';
import { defaultPorts, type Ports, parsePort, parsePrivateSource } from '../private-sources.ts';
import { parseS3Location, type S3Location, s3LocationForm } from '../s3-location.ts';

/** One setting: its environment variable, the values that it accepts, the default and the meaning. */
export interface Setting<T> {
  readonly variable: `SERVICE_${string}`;
  readonly kind: 'number' | 'text';
  /** The accepted values, for messages. */
  readonly accepts: string;
  /**
   * Parses a value that is not empty; undefined for one that is not accepted, or a RangeError with the reason,
   * without the value.
   */
  readonly parse: (text: string) => T | undefined;
  /** A function if the default depends on settings above this one in the table. */
  readonly default: T | ((above: { readonly [name: string]: unknown }) => T);
  /** The default as shown in the documents, if it is computed or an object. */
  readonly defaultInWords?: string;
  readonly meaning: string;
  /** Redacted in logs. Not an option of commands, because all users of a machine can read those. */
  readonly secret?: true;
  /** The texts that logs must not contain, if the value of a secret is not a text. */
  secretsIn?(value: T): readonly string[];
  /** A variable that platforms set; used if the setting's own is not set. */
  readonly platformVariable?: string;
}

type Details<T> = Omit<Setting<T>, 'variable' | 'kind' | 'accepts' | 'parse'>;

function integer<T extends number | null = number>(
  variable: Setting<T>['variable'],
  minimum: number,
  maximum: number,
  details: Details<NoInfer<T>>,
): Setting<T> {
  const accepts = `a whole number from ${minimum} to ${maximum}`;
  const parse = (text: string) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= minimum && number <= maximum ? (number as T) : undefined;
  };
  return { variable, kind: 'number', accepts, parse, ...details };
}

function text<T>(
  variable: Setting<T>['variable'],
  details: Omit<Setting<T>, 'variable' | 'kind'>,
): Setting<T> {
  return { variable, kind: 'text', ...details };
}

function choice<const W extends string, N extends null = never>(
  variable: Setting<W>['variable'],
  words: readonly W[],
  details: Details<NoInfer<W> | N>,
): Setting<W | N> {
  const parse = (text: string) => words.find((word) => word === text);
  return text(variable, { accepts: words.join(', '), parse, ...details });
}

function onOff(
  variable: Setting<boolean>['variable'],
  meaning: string,
  isOn = true,
): Setting<boolean> {
  const parse = (word: string) => (word === 'on' ? true : word === 'off' ? false : undefined);
  return text(variable, {
    accepts: 'on, off',
    parse,
    default: isOn,
    defaultInWords: isOn ? 'on' : 'off',
    meaning,
  });
}

function listenHost(
  variable: Setting<string>['variable'],
  host: string,
  meaning: string,
): Setting<string> {
  const accepts = 'a host name or IP address to listen on';
  return text(variable, { accepts, parse: (name) => name, default: host, meaning });
}

const isUri = fullFormats.uri as (text: string) => boolean;

/** An http or https URL that may have a query, without user information and fragment. */
const isHookUrl = (url: string): boolean =>
  isUri(url) && /^https?:\/\/[^/@#]+(\/[^#]*)?$/.test(url);

/** A secret of Standard Webhooks: 24 to 64 bytes in Base64. */
function isHookSecret(text: string): boolean {
  const base64 = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

function httpUrl(variable: Setting<string>['variable'], details: Details<string>): Setting<string> {
  const accepts = 'an absolute http or https URL without query';
  const parse = (url: string) =>
    isUri(url) && /^https?:\/\/[^?#]+$/.test(url) ? url.replace(/\/+$/, '') : undefined;
  return text(variable, { accepts, parse, ...details });
}

/** A parser of texts that match a pattern. */
const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined);

/** The entries of a comma-separated list that are not empty. */
const entriesOf = (list: string): readonly string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/**
 * Parses a comma-separated list; undefined when an entry is not valid.
 * @param parse returns null for an entry that is not valid
 */
function parseList<E>(list: string, parse: (entry: string) => E | null): E[] | undefined {
  const entries = entriesOf(list).map(parse);
  const valid = entries.filter((entry) => entry !== null);
  return valid.length === entries.length ? valid : undefined;
}

function parsePorts(list: string): Ports | undefined {
  const ports = parseList(list, (entry) => (entry === '*' ? entry : parsePort(entry)));
  if (ports === undefined || ports.length === 0) return undefined;
  const numbers = ports.filter((port) => port !== '*');
  return numbers.length === ports.length ? numbers : null;
}

function parseEncryptionKeys(list: string): readonly EncryptionKey[] | undefined {
  const keys = parseList(list, parseEncryptionKey);
  return keys && new Set(keys.map(({ id }) => id)).size === keys.length ? keys : undefined;
}

function parseDnsServers(list: string): readonly string[] | undefined {
  const servers = parseList(list, (entry) => (isDnsServer(entry) ? entry : null));
  return servers?.length === 0 ? undefined : servers;
}

/** The end of a name determines how tags are separated. No other header of an image ends so, except ETag. */
const tagHeaderPattern = /^(?!etag$)[a-z0-9-]{0,60}(tag|key)$/;

function parseTagHeaders(list: string): readonly string[] | undefined {
  if (list === 'none') return [];
  const names = parseList(list.toLowerCase(), (name) =>
    tagHeaderPattern.test(name) ? name : null,
  );
  return names?.length === 0 ? undefined : names && Array.from(new Set(names));
}

function parsePictures(list: string): ConsolePictures | undefined {
  if (list.length > maxPicturesText || !/^[\w-]+( +https?:\/\/[^ ]+)*$/u.test(list))
    return undefined;
  const [project = '', ...urls] = list.split(/ +/);
  return { project, urls };
}

/** The project ('' for none) and picture URLs that the playground opens with. */
export interface ConsolePictures {
  readonly project: string;
  readonly urls: readonly string[];
}
/** Maximum length; the page contains the whole value. Linux limits an environment variable to 128 KiB. */
export const maxPicturesText = 65_536;

const atLeastOne = (n: number): number => Math.max(1, Math.floor(n));

/**
 * One thread more than cores: it works while another one transfers its result (docs/operating/sizing.md). With one core it
 * has no effect.
 *
 * @param cores for each process
 */
const defaultThreads = (cores: number): number => (cores < 2 ? 1 : Math.floor(cores) + 1);
/** Default port of the operations listener. */
export const defaultOpsPort = 9_090;

/**
 * The settings of all processes of a deployment. The processes share one environment and reject
 * unknown variables, so they share this table. Parsing, types, error messages, `.env.example` and
 * the table of docs/settings.md derive from it.
 */
export const settingsTable = {
  host: listenHost('SERVICE_HOST', '0.0.0.0', 'Address of the public listener.'),
  port: integer('SERVICE_PORT', 1, 65_535, {
    default: 3000,
    defaultInWords: '`PORT`, else 3000',
    meaning: 'Port of the public listener. Cloud Run, Heroku and others name it in `PORT`.',
    platformVariable: 'PORT',
  }),
  baseUrl: httpUrl('SERVICE_BASE_URL', {
    default: (above) => `http://localhost:${above['port']}`,
    defaultInWords: 'http://localhost:<port>',
    meaning: 'Base of the delivery URLs, as clients or the CDN reach the service.',
  }),
  internalUrl: httpUrl('SERVICE_INTERNAL_URL', {
    default: (above) => String(above['baseUrl']),
    defaultInWords: 'SERVICE_BASE_URL',
    meaning: 'Base of the URLs by which workers reach the service without the CDN.',
  }),
  trustedProxies: text<readonly Network[]>('SERVICE_TRUSTED_PROXIES', {
    accepts: 'a comma-separated list of CIDRs and IP addresses',
    parse: (list) => parseList(list, parseNetwork),
    default: [],
    meaning:
      'CIDRs or addresses of proxies whose `X-Forwarded-For` names the client, comma-separated. Limits for each client address need it behind a proxy.',
  }),
  httpEngine: choice('SERVICE_HTTP_ENGINE', ['auto', 'uws', 'node'], {
    default: 'auto',
    meaning:
      "The HTTP server: `uws` is uWebSockets.js, `node` is Node's own; `auto` is uWebSockets.js if its binary loads, and Node's server otherwise.",
  }),
  console: onOff(
    'SERVICE_CONSOLE',
    'The page at `/`, the API reference at `/docs`, and error pages for browsers; `off` for none of them.',
  ),
  crossSite: onOff(
    'SERVICE_CROSS_SITE',
    "Whether pages of any site may embed and read images. `off` refuses requests that such pages send, and those for a Host that is neither an IP address nor `localhost` nor the base URL's.",
  ),
  consolePictures: text<ConsolePictures>('SERVICE_CONSOLE_PICTURES', {
    accepts: `the id of a project and URLs of pictures, separated by spaces, of at most ${maxPicturesText} characters`,
    parse: parsePictures,
    default: { project: '', urls: [] },
    defaultInWords: '(none)',
    meaning:
      'What the playground opens with: the id of a project and the URLs of pictures that it offers, separated by spaces. Everybody who reaches the page sees them.',
  }),
  cacheTagHeaders: text<readonly string[]>('SERVICE_CACHE_TAG_HEADERS', {
    accepts:
      '`none`, or a comma-separated list of names of headers that end with `Tag` or `Key`, except `ETag`',
    parse: parseTagHeaders,
    default: ['cache-tag', 'surrogate-key'],
    defaultInWords: 'Cache-Tag,Surrogate-Key',
    meaning:
      'Response headers with the tags by which a CDN purges images, comma-separated; `none` for none. Commas separate the tags in a header whose name ends with `Tag`, and spaces where it ends with `Key`.',
  }),
  unknownParameters: choice('SERVICE_UNKNOWN_PARAMETERS', ['warn', 'refuse'], {
    default: 'warn',
    meaning:
      'Image URLs with parameters that do not exist: `warn` ignores these and names them in `X-Image-Warnings`, `refuse` answers 400. Those of trackers, such as `utm_source`, are ignored either way.',
  }),
  drainDelayMs: integer('SERVICE_DRAIN_DELAY_MS', 0, 300_000, {
    default: 0,
    meaning:
      'Time from SIGTERM, when `GET /api/ready` becomes 503, until the listener closes, in ms: the time that a load balancer needs to notice. All requests are served in between.',
  }),
  processes: integer('SERVICE_PROCESSES', 1, 256, {
    default: () => atLeastOne(availableParallelism() / 4),
    defaultInWords: 'cores / 4, at least 1',
    meaning: 'Front-end processes.',
  }),
  poolThreads: integer('SERVICE_POOL_THREADS', 1, 256, {
    default: (above) => defaultThreads(availableParallelism() / Number(above['processes'])),
    defaultInWords: 'cores / processes, and 1 more from 2 cores on',
    meaning: 'Transform threads in each process.',
  }),
  poolQueue: integer('SERVICE_POOL_QUEUE', 0, 100_000, {
    default: (above) => 16 * Number(above['poolThreads']),
    defaultInWords: '16 x threads',
    meaning: 'Maximum transforms that wait for a thread, in each process.',
  }),
  poolMemoryBytes: integer('SERVICE_POOL_MEMORY_BYTES', 1, 2 ** 50, {
    default: (above) => Math.max(536_870_912, 268_435_456 * Number(above['poolThreads'])),
    defaultInWords: '268435456 x threads, at least 536870912',
    meaning:
      'Maximum estimated memory of the running transforms that are not light, in each process; one above the maximum runs alone.',
  }),
  fetchConcurrency: integer('SERVICE_FETCH_CONCURRENCY', 1, 10_000, {
    default: 64,
    meaning:
      'Maximum concurrent source fetches, in each process. One project can use three quarters.',
  }),
  memoryCacheBytes: integer('SERVICE_MEMORY_CACHE_BYTES', 0, 2 ** 50, {
    default: 268_435_456,
    meaning: 'Maximum size of the memory cache in bytes, all processes together.',
  }),
  diskCacheBytes: integer('SERVICE_DISK_CACHE_BYTES', 0, 2 ** 50, {
    default: 10_737_418_240,
    meaning: 'Maximum size of the disk cache in bytes; 0 disables it.',
  }),
  diskReserveBytes: integer<number | null>('SERVICE_DISK_RESERVE_BYTES', 0, 2 ** 50, {
    default: null,
    defaultInWords: '5 % of the disk, at most 536870912',
    meaning:
      'Free bytes that the disk cache leaves on its disk, for the embedded store and others; with fewer it deletes images, even below its own limit.',
  }),
  sharedCacheUrl: text<S3Location | null>('SERVICE_SHARED_CACHE_URL', {
    accepts: s3LocationForm,
    parse: parseS3Location,
    default: null,
    meaning:
      'The bucket in which all machines keep their images (S3 or a compatible service). The credentials are those of the AWS variables, a web identity, a container or an instance.',
  }),
  sharedCacheTimeoutMs: integer('SERVICE_SHARED_CACHE_TIMEOUT_MS', 1, 60_000, {
    default: 300,
    meaning: 'Maximum time for which a miss waits for the shared cache, in ms.',
  }),
  sharedCacheQueueBytes: integer('SERVICE_SHARED_CACHE_QUEUE_BYTES', 1, 2 ** 40, {
    default: 67_108_864,
    meaning:
      'Maximum bytes of images that wait to be written to the shared cache, in each process; further ones are not written.',
  }),
  dataDir: text<string>('SERVICE_DATA_DIR', {
    accepts: 'a folder',
    parse: (folder) => folder,
    default: './data',
    meaning: 'Folder of the disk cache and the embedded store.',
  }),
  mongodbUrl: text<string | null>('SERVICE_MONGODB_URL', {
    accepts: 'a mongodb:// or mongodb+srv:// URL',
    parse: matching(/^mongodb(\+srv)?:\/\/.+/),
    default: null,
    defaultInWords: '(the embedded store)',
    meaning: 'The MongoDB server. Its path names the database, `image_delivery` when empty.',
    secret: true,
  }),
  staleProjectsSeconds: integer('SERVICE_STALE_PROJECTS_SECONDS', 0, 31_536_000, {
    default: 86_400,
    meaning:
      'While the store is unavailable, projects are served for this long after the store has last confirmed them, in seconds. After that, and for all other projects, image requests get 503 `store_unavailable`.',
  }),
  sourceMinAgeSeconds: integer('SERVICE_SOURCE_MIN_AGE_SECONDS', 1, 31_536_000, {
    default: 10,
    meaning:
      'Minimum time between two requests to an origin whether a source has changed, in seconds, even if the project or the origin demands less.',
  }),
  sourceMaxAgeSeconds: integer('SERVICE_SOURCE_MAX_AGE_SECONDS', 1, 31_536_000, {
    default: 31_536_000,
    meaning:
      'Maximum time between two such requests, in seconds, for projects that have a source age.',
  }),
  staleIfErrorSeconds: integer('SERVICE_STALE_IF_ERROR_SECONDS', 0, 31_536_000, {
    default: 604_800,
    meaning:
      'Maximum time for which images of a project with a source age are served after that age while the origin of their source fails, in seconds.',
  }),
  rootApiKey: text<string | null>('SERVICE_ROOT_API_KEY', {
    accepts: '8 to 256 visible ASCII characters (best: `sk_` and 43 random base64url characters)',
    parse: matching(/^[\x21-\x7e]{8,256}$/),
    default: null,
    meaning:
      'An all-project read-write key, added to the store at start. Without it, and with no key in the store, the first start creates a key and prints it once.',
    secret: true,
  }),
  apiRateLimit: integer('SERVICE_API_RATE_LIMIT', 1, 1_000_000, {
    default: 600,
    meaning: 'Maximum control-plane requests per minute for each key.',
  }),
  privateSources: text<readonly string[]>('SERVICE_PRIVATE_SOURCES', {
    accepts:
      'a comma-separated list of CIDRs, IP addresses and host names, each with an optional port or `:*`',
    parse: (list) => parseList(list, (entry) => parsePrivateSource(entry) && entry),
    default: [],
    meaning:
      'CIDRs, addresses or host names, comma-separated, that sources may use even though they are not public. A port (`10.0.0.5:9000`, `[fd00::/8]:9000`) or all (`:*`) may follow; without one, the ports 80 and 443 are allowed.',
  }),
  origins: text<readonly OriginEntry[]>('SERVICE_ORIGINS', {
    accepts: `a comma-separated list of \`host=target\` or \`host@project=target\`, each host and project once, with the target ${s3LocationForm}, \`file:///folder\`, or \`headers:Name=value&Name=value\`, names and values percent-encoded`,
    parse: (list) => parseOrigins(entriesOf(list)),
    default: [],
    meaning:
      'Hosts whose sources are in a bucket or in a folder of the machine, or need request headers; comma-separated.',
    secret: true,
    secretsIn: secretsOfOrigins,
  }),
  encryptionKeys: text<readonly EncryptionKey[]>('SERVICE_ENCRYPTION_KEYS', {
    accepts:
      'a comma-separated list of `id:key`, each id once, with keys of 32 bytes in Base64 and ids of at most 32 lower-case letters, digits, - and _',
    parse: parseEncryptionKeys,
    default: [],
    meaning:
      'Keys that encrypt the secrets of projects in the store, comma-separated: the first one encrypts, and each of them decrypts.',
    secret: true,
    secretsIn: (keys) => keys.map(({ secret }) => secret),
  }),
  sourcePorts: text<Ports>('SERVICE_SOURCE_PORTS', {
    accepts: 'a comma-separated list of ports, or `*`',
    parse: parsePorts,
    default: defaultPorts,
    defaultInWords: '80,443',
    meaning: 'Ports of public sources, comma-separated; `*` allows all.',
  }),
  dnsServers: text<readonly string[] | null>('SERVICE_DNS_SERVERS', {
    accepts: 'a comma-separated list of IP addresses, each with an optional port',
    parse: parseDnsServers,
    default: null,
    defaultInWords: "(the system's)",
    meaning: 'DNS servers that resolve the names of source hosts.',
  }),
  sourceMaxBytes: integer('SERVICE_SOURCE_MAX_BYTES', 1, 2 ** 31, {
    default: 33_554_432,
    meaning: 'Maximum size of a source, in bytes.',
  }),
  sourceHeldBytes: integer('SERVICE_SOURCE_HELD_BYTES', 1, 2 ** 40, {
    default: (above) => Math.max(134_217_728, 4 * Number(above['sourceMaxBytes'])),
    defaultInWords: '4 x SERVICE_SOURCE_MAX_BYTES, at least 134217728',
    meaning:
      'Maximum bytes of sources that are being fetched, wait or are transformed, in each process. One project can use three quarters.',
  }),
  sourceCacheBytes: integer('SERVICE_SOURCE_CACHE_BYTES', 0, 2 ** 40, {
    default: 16_777_216,
    meaning:
      'Maximum bytes of sources that are kept for 30 s after their fetch for further variants, in each process; 0 keeps none.',
  }),
  autoFormats: text<readonly NegotiableFormat[]>('SERVICE_AUTO_FORMATS', {
    accepts: `a comma-separated list of ${negotiableFormats.join(', ')}`,
    parse: parseAutoFormats,
    default: defaultAutoFormats,
    defaultInWords: defaultAutoFormats.join(),
    meaning:
      'Formats that `auto` chooses from for clients that name them, the best one first; the same for the service and its worker.',
  }),
  autoFirst: text<NegotiableFormat | null>('SERVICE_AUTO_FIRST', {
    accepts: `one of ${negotiableFormats.join(', ')}`,
    parse: (text) => negotiableFormats.find((format) => format === text),
    default: null,
    defaultInWords: '(none)',
    meaning:
      'A format of `SERVICE_AUTO_FORMATS` that `auto` sends until the better one that the client accepts has been rendered, after the response.',
  }),
  heic: onOff(
    'SERVICE_HEIC',
    'Whether sources may be HEIC and HEIF; `off` refuses them. Patents cover their codec, HEVC.',
  ),
  pdf: onOff(
    'SERVICE_PDF',
    'Whether sources may be PDFs, of which one page is drawn; `off` refuses them.',
    false,
  ),
  sourceMaxPixels: integer('SERVICE_SOURCE_MAX_PIXELS', 1, 2 ** 40, {
    default: 100_000_000,
    meaning: 'Maximum pixels of a source, all frames together.',
  }),
  sourceTimeoutMs: integer('SERVICE_SOURCE_TIMEOUT_MS', 1, 600_000, {
    default: 10_000,
    meaning: 'Timeout of a source fetch, including its redirects (at most 5), in ms.',
  }),
  transformTimeoutMs: integer('SERVICE_TRANSFORM_TIMEOUT_MS', 1, 600_000, {
    default: 20_000,
    meaning: 'Timeout of one transform, in ms.',
  }),
  svgTimeoutMs: integer('SERVICE_SVG_TIMEOUT_MS', 1, 600_000, {
    default: 5_000,
    meaning:
      'Timeout of drawing one SVG, in ms, of those of the transform: a small file can ask for hours of drawing.',
  }),
  transformProcessMemoryBytes: integer('SERVICE_TRANSFORM_PROCESS_MEMORY_BYTES', 2 ** 28, 2 ** 40, {
    default: 1_610_612_736,
    meaning:
      'Maximum memory in bytes of each transform process, which renders an SVG or PDF, decodes a HEIC or encodes a large AVIF; there are at most as many as transform threads.',
  }),
  fonts: text<string | null>('SERVICE_FONTS', {
    accepts: 'a folder',
    parse: (folder) => resolve(folder),
    default: null,
    meaning:
      'Folder with TTF, OTF and WOFF2 files, at most 200, whose families texts can have besides Open Sans.',
  }),
  logLevel: choice(
    'SERVICE_LOG_LEVEL',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    {
      default: null,
      defaultInWords: 'info; warn on a terminal',
      meaning: 'Minimum level of logged messages; `silent` for none.',
    },
  ),
  logFormat: choice('SERVICE_LOG_FORMAT', ['auto', 'json', 'text'], {
    default: 'auto',
    meaning:
      'Log lines are `json` objects or readable `text`; `auto` is text on a terminal and JSON elsewhere.',
  }),
  opsPort: integer<number | null>('SERVICE_OPS_PORT', 0, 65_535, {
    default: null,
    defaultInWords: '9090, if it is free',
    meaning: "Port of the service's operations listener, which has `/metrics`; 0 disables it.",
  }),
  opsHost: listenHost(
    'SERVICE_OPS_HOST',
    '127.0.0.1',
    "Address of the service's operations listener.",
  ),
  workerPort: integer('SERVICE_WORKER_PORT', 1, 65_535, {
    default: 3001,
    meaning: "Port of the worker's operations server.",
  }),
  workerHost: listenHost(
    'SERVICE_WORKER_HOST',
    '127.0.0.1',
    "Address of the worker's operations server.",
  ),
  workbenchUsername: text<string | null>('SERVICE_WORKBENCH_USERNAME', {
    accepts: 'a user name without a colon',
    parse: matching(/^[^:]+$/),
    default: null,
    meaning: 'User name of the queue dashboard; set both this and the password, or neither.',
  }),
  workbenchPassword: text<string | null>('SERVICE_WORKBENCH_PASSWORD', {
    accepts: 'a password',
    parse: (password) => password,
    default: null,
    meaning: 'Password of the queue dashboard.',
    secret: true,
  }),
  prewarmQueue: integer('SERVICE_PREWARM_QUEUE', 1, 10_000_000, {
    default: 20_000,
    meaning: 'Maximum sources that wait to be prewarmed, for each project.',
  }),
  workerConcurrency: integer('SERVICE_WORKER_CONCURRENCY', 1, 1_000, {
    default: 4,
    meaning: 'Maximum concurrent prewarm jobs, in each worker.',
  }),
  purgeHookUrl: text<string | null>('SERVICE_PURGE_HOOK_URL', {
    accepts: 'an absolute http or https URL without user name, password and fragment',
    parse: (url) => (isHookUrl(url) ? url : undefined),
    default: null,
    meaning:
      'A URL to which a worker posts the CDN tags of what was purged; requires `SERVICE_HOOK_SECRET`.',
    secret: true,
  }),
  hookSecret: text<string | null>('SERVICE_HOOK_SECRET', {
    accepts: '`whsec_` and 24 to 64 bytes in Base64',
    parse: (secret) => (isHookSecret(secret) ? secret : undefined),
    default: null,
    meaning: 'The secret that signs the requests of the purge hook (Standard Webhooks).',
    secret: true,
  }),
} as const;

export type SettingName = keyof typeof settingsTable;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The settings as `loadSettings` returns them: complete, validated and typed. */
export type Settings = { readonly [N in SettingName]: ValueOf<(typeof settingsTable)[N]> };

/** The table's rows in order, with a common type. */
export const settingRows = Object.entries(settingsTable) as ReadonlyArray<
  readonly [SettingName, Setting<unknown>]
>;

/** The default as shown in the documents. */
export function defaultInWords(setting: Setting<unknown>): string {
  const { defaultInWords: words, default: value } = setting;
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  return words ?? (isEmpty ? '(none)' : String(value));
}
