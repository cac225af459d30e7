import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  defaultAutoFormats,
  type NegotiableFormat,
  negotiableFormats,
  parseAutoFormats,
} from '../auto-formats.ts';
import { type ConsolePictures, maxPicturesText, parsePictures } from '../console-pictures.ts';
import type { EncryptionKey } from '../encryption-keys.ts';
import { type Network, parseNat64Prefix, parseNetwork } from '../networks.ts';
import { type OriginEntry, parseOrigins, secretsOfOrigins } from '../origins.ts';
import { defaultPorts, type Ports, parsePrivateSource } from '../private-sources.ts';
import { parseS3Location, type S3Location, s3LocationForm } from '../s3-location.ts';
import { isWebhookSecret } from '../webhook-secret.ts';
import {
  entriesOf,
  parseDnsServers,
  parseEncryptionKeys,
  parseList,
  parsePorts,
  parseTagHeaders,
} from './lists.ts';
import {
  choice,
  httpUrl,
  integer,
  isHookUrl,
  listenHost,
  matching,
  onOff,
  type Setting,
  text,
} from './setting.ts';

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
    meaning:
      'Port of the public listener. Platforms such as Cloud Run and Heroku set `PORT` instead. The option `--port` also moves the ports of the worker and of operations, unless they are set: to the next two.',
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
      'CIDRs or addresses of proxies whose `X-Forwarded-For` names the client and whose `X-Forwarded-Host` names the host, comma-separated. Limits for each client address need it behind a proxy, and connections of these proxies are not limited for each address.',
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
  ownHostOnly: onOff(
    'SERVICE_OWN_HOST_ONLY',
    "Whether the API, the console, health and the OpenAPI document answer only for the base URL's host, an IP address or `localhost`. `on` refuses them for every other Host, so that delivery hosts have images at all paths.",
    false,
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
      'Maximum estimated memory of the heavy transforms that run at the same time, in each process. Beside a transform that needs more, other projects have up to 256 MiB.',
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
  nat64Prefixes: text<readonly Network[]>('SERVICE_NAT64_PREFIXES', {
    accepts: 'a comma-separated list of IPv6 CIDRs with 32, 40, 48, 56, 64 or 96 bits',
    parse: (list) => parseList(list, parseNat64Prefix),
    default: [],
    meaning:
      "NAT64 prefixes of the machine's network, comma-separated: sources may use their addresses if the embedded IPv4 address is public. The service also asks the resolver for them (RFC 7050), but only to refuse addresses. `64:ff9b::/96` needs no entry.",
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
    parse: (secret) => (isWebhookSecret(secret) ? secret : undefined),
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
