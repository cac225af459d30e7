import { resolve } from 'node:path';
import {
  defaultAutoFormats,
  firstFormats,
  type NegotiableFormat,
  negotiableFormats,
  parseAutoFormats,
} from '../image-terms.ts';
import {
  defaultPorts,
  type Network,
  type Ports,
  type PrivateSource,
  parseNat64Prefix,
  parseNetwork,
  parsePrivateSource,
} from '../networks.ts';
import { type OriginEntry, parseOrigins, secretsOfOrigins } from '../origins.ts';
import { version } from '../package.ts';
import { parseS3Location, type S3Location, s3LocationForm } from '../s3-location.ts';
import {
  type ConsolePictures,
  type EncryptionKey,
  maxPicturesText,
  parseDnsServers,
  parseEncryptionKeys,
  parseList,
  parseNoProxy,
  parsePictures,
  parsePorts,
  parseTagHeaders,
  parseWebhookSecrets,
  splitEntries,
} from './lists.ts';
import {
  fittingProcesses,
  leastProcessBytes,
  memoryCacheBytes,
  sourceBytes,
  sourceCacheBytes,
  threadBytes,
  transformBytes,
} from './memory.ts';
import {
  choice,
  httpUrl,
  integer,
  isHookUrl,
  isProxyUrl,
  listenHost,
  matching,
  onOff,
  type Setting,
  text,
} from './setting.ts';

const atLeastOne = (n: number): number => Math.max(1, Math.floor(n));

/**
 * Plans a thread more than cores, to work while another transfers its result
 * (docs/operating/sizing.md). On a single core an additional thread has no effect.
 *
 * @param cores per process
 */
const defaultThreads = (cores: number): number => (cores < 2 ? 1 : Math.floor(cores) + 1);
/** Default port of the operations listener. */
export const defaultOpsPort = 9_090;

/**
 * Settings for all processes in a deployment, in the order of the commands' help. The processes
 * share an environment and reject unknown variables, so they share this table. Parsing, types,
 * error messages, `.env.example` and the table in docs/settings.md derive from it.
 */
export const settingsTable = {
  host: listenHost(
    'SERVICE_HOST',
    '::',
    'Address to listen on; `::` is every IPv6 and IPv4 address.',
  ),
  port: integer('SERVICE_PORT', 1, 65_535, {
    default: 3000,
    defaultInWords: '`PORT`, else 3000',
    meaning: 'Port to listen on. Platforms such as Cloud Run and Heroku set `PORT`.',
    platformVariables: ['PORT'],
  }),
  baseUrl: httpUrl('SERVICE_BASE_URL', {
    default: (above) => `http://localhost:${above['port']}`,
    defaultInWords: 'http://localhost:<port>',
    meaning: 'Base URL that clients or the CDN use to reach the service.',
  }),
  internalUrl: httpUrl('SERVICE_INTERNAL_URL', {
    default: (above) => String(above['baseUrl']),
    defaultInWords: 'SERVICE_BASE_URL',
    meaning: 'Base URL that workers use to reach the service without going through the CDN.',
  }),
  trustedProxies: text<readonly Network[]>('SERVICE_TRUSTED_PROXIES', {
    accepts: 'a comma-separated list of CIDRs and IP addresses',
    parse: (list) => parseList(list, parseNetwork),
    default: [],
    meaning:
      'Proxies that are trusted to set `X-Forwarded-For` and `X-Forwarded-Host`, as comma-separated CIDRs or addresses. Required behind a proxy, where all clients otherwise share the limits of its address.',
  }),
  httpEngine: choice('SERVICE_HTTP_ENGINE', ['auto', 'uws', 'node'], {
    default: 'auto',
    meaning:
      "HTTP server: `uws` for uWebSockets.js, `node` for Node's own server, `auto` for uWebSockets.js if its binary loads.",
  }),
  opsPort: integer<number | null>('SERVICE_OPS_PORT', 0, 65_535, {
    default: null,
    defaultInWords: '9090, if it is free',
    meaning: "Port of the service's operations listener, which serves `/metrics`; 0 disables it.",
  }),
  opsHost: listenHost(
    'SERVICE_OPS_HOST',
    'localhost',
    "Address of the service's operations listener.",
  ),
  workerPort: integer('SERVICE_WORKER_PORT', 1, 65_535, {
    default: 3001,
    meaning: "Port of the worker's operations listener.",
  }),
  workerHost: listenHost(
    'SERVICE_WORKER_HOST',
    'localhost',
    "Address of the worker's operations listener.",
  ),
  drainDelayMs: integer('SERVICE_DRAIN_DELAY_MS', 0, 300_000, {
    default: 0,
    meaning:
      'Milliseconds between SIGTERM, when `GET /api/ready` starts returning 503, and closing the listener. Set it to the time that your load balancer takes to notice the 503.',
  }),
  dataDir: text<string>('SERVICE_DATA_DIR', {
    accepts: 'a folder',
    parse: (folder) => folder,
    default: './data',
    meaning: 'Folder for the disk cache and the embedded store.',
  }),
  mongodbUrl: text<string | null>('SERVICE_MONGODB_URL', {
    accepts: 'a mongodb:// or mongodb+srv:// URL',
    parse: matching(/^mongodb(\+srv)?:\/\/.+/),
    default: null,
    defaultInWords: '(the embedded store)',
    meaning: 'MongoDB server. The path names the database (default: `image_delivery`).',
    secret: true,
  }),
  staleProjectsSeconds: integer('SERVICE_STALE_PROJECTS_SECONDS', 0, 31_536_000, {
    default: 86_400,
    meaning:
      'How long to serve known projects while the store is unavailable, in seconds since its last response. Other image requests get 503 `store_unavailable`.',
  }),
  encryptionKeys: text<readonly EncryptionKey[]>('SERVICE_ENCRYPTION_KEYS', {
    accepts:
      'a comma-separated list of `id:key`, each id once, with keys of 32 bytes in Base64 and ids of at most 32 lower-case letters, digits, - and _',
    parse: parseEncryptionKeys,
    default: [],
    meaning:
      'Keys that encrypt project secrets in the store, as comma-separated `id:key`. The first key encrypts; every key decrypts.',
    secret: true,
    secretsIn: (keys) => keys.map(({ secret }) => secret),
  }),
  console: onOff(
    'SERVICE_CONSOLE',
    'Serve the console at `/`, the API reference at `/docs` and error pages for browsers.',
  ),
  consolePictures: text<ConsolePictures>('SERVICE_CONSOLE_PICTURES', {
    accepts: `a project id and image URLs, separated by spaces, at most ${maxPicturesText} characters`,
    parse: parsePictures,
    default: { project: '', urls: [] },
    defaultInWords: '(unset)',
    meaning:
      'Project id and image URLs that the playground shows to everyone, separated by spaces.',
  }),
  crossSite: onOff(
    'SERVICE_CROSS_SITE',
    "Let pages on any site embed and read images. `off` rejects requests from other sites, and requests for a Host other than an IP address, `localhost` or the base URL's host.",
  ),
  ownHostOnly: onOff(
    'SERVICE_OWN_HOST_ONLY',
    "Serve the API, console, health and OpenAPI document only on the base URL's host, IP addresses and `localhost`, so that all paths on delivery hosts are image paths.",
    false,
  ),
  cacheTagHeaders: text<readonly string[]>('SERVICE_CACHE_TAG_HEADERS', {
    accepts:
      '`none`, or a comma-separated list of header names that end with `Tag` or `Key`, except `ETag`',
    parse: parseTagHeaders,
    default: ['cache-tag', 'surrogate-key'],
    defaultInWords: 'Cache-Tag,Surrogate-Key',
    meaning:
      'Response headers that contain the tags for CDN purges, comma-separated; `none` sends no tags. Tags are separated by commas in headers that end with `Tag`, and by spaces in headers that end with `Key`.',
  }),
  vary: choice('SERVICE_VARY', ['full', 'needed'], {
    default: 'full',
    meaning:
      '`Vary` of images: `full` names every header that can change an image, `needed` only those that can change the requested image: none if the URL has a size and a format. Set `needed` for Google Cloud CDN.',
  }),
  unknownParameters: choice('SERVICE_UNKNOWN_PARAMETERS', ['warn', 'refuse'], {
    default: 'warn',
    meaning:
      'Handling of unknown parameters in image URLs: `warn` ignores them and lists them in `X-Image-Warnings`, `refuse` returns 400. Tracking parameters such as `utm_source` are always ignored.',
  }),
  rootApiKey: text<string | null>('SERVICE_ROOT_API_KEY', {
    accepts: '8 to 256 visible ASCII characters (best: `sk_` and 43 random base64url characters)',
    parse: matching(/^[\x21-\x7e]{8,256}$/),
    default: null,
    meaning:
      'API key with access to everything. If it is unset and the store has no key, the first start creates a key and prints it once.',
    secret: true,
  }),
  apiRateLimit: integer('SERVICE_API_RATE_LIMIT', 1, 1_000_000, {
    default: 600,
    meaning: 'Maximum control-plane requests per minute and key.',
  }),
  processes: integer('SERVICE_PROCESSES', 1, 256, {
    default: (_, machine) => atLeastOne(Math.min(machine.cores / 4, fittingProcesses(machine))),
    defaultInWords: 'cores / 4, at least 1; fewer if memory is short',
    meaning: 'Number of front-end processes.',
  }),
  poolThreads: integer('SERVICE_POOL_THREADS', 1, 256, {
    default: ({ processes }, machine) =>
      atLeastOne(
        Math.min(
          defaultThreads(machine.cores / Number(processes)),
          transformBytes(machine, Number(processes)) / threadBytes,
        ),
      ),
    defaultInWords: 'cores / processes, plus 1 if that is at least 2; fewer if memory is short',
    meaning: 'Transform threads per process.',
  }),
  poolQueue: integer('SERVICE_POOL_QUEUE', 0, 100_000, {
    default: (above) => 16 * Number(above['poolThreads']),
    defaultInWords: '16 × threads',
    meaning:
      'Maximum transforms waiting for a thread, per process. Further requests get 503 `overloaded`.',
  }),
  poolMemoryBytes: integer('SERVICE_POOL_MEMORY_BYTES', 1, 2 ** 50, {
    default: ({ processes, poolThreads }, machine) =>
      Math.min(
        Math.max(536_870_912, 268_435_456 * Number(poolThreads)),
        transformBytes(machine, Number(processes)),
      ),
    defaultInWords: '268435456 × threads, at least 536870912; less if memory is short',
    meaning: 'Maximum estimated memory of concurrent heavy transforms, in bytes, per process.',
  }),
  transformTimeoutMs: integer('SERVICE_TRANSFORM_TIMEOUT_MS', 1, 600_000, {
    default: 20_000,
    meaning: 'Timeout for a transform in ms.',
  }),
  svgTimeoutMs: integer('SERVICE_SVG_TIMEOUT_MS', 1, 600_000, {
    default: 5_000,
    meaning: 'Timeout for drawing an SVG in ms, part of the transform timeout.',
  }),
  transformProcessMemoryBytes: integer(
    'SERVICE_TRANSFORM_PROCESS_MEMORY_BYTES',
    leastProcessBytes,
    2 ** 40,
    {
      default: ({ processes }, machine) =>
        Math.min(
          1_610_612_736,
          // Other projects' transforms keep as much next to the largest.
          Math.max(leastProcessBytes, transformBytes(machine, Number(processes)) - 2 ** 28),
        ),
      defaultInWords: '1610612736, less if memory is short',
      meaning:
        'Memory limit in bytes per transform process. Each transform thread has at most one, for SVG, PDF, HEIC and large AVIF.',
    },
  ),
  memoryCacheBytes: integer('SERVICE_MEMORY_CACHE_BYTES', 0, 2 ** 50, {
    default: (_, machine) => memoryCacheBytes(machine),
    defaultInWords: '268435456, at most a 16th of the memory',
    meaning: 'Maximum memory cache size in bytes, for all processes together.',
  }),
  diskCacheBytes: integer('SERVICE_DISK_CACHE_BYTES', 0, 2 ** 50, {
    default: 10_737_418_240,
    meaning: 'Maximum disk cache size in bytes; 0 disables the disk cache.',
  }),
  diskReserveBytes: integer<number | null>('SERVICE_DISK_RESERVE_BYTES', 0, 2 ** 50, {
    default: null,
    defaultInWords: '5% of the disk, at most 536870912',
    meaning:
      'Bytes that the disk cache keeps free on its disk for the embedded store and other programs, by deleting images.',
  }),
  sharedCacheUrl: text<S3Location | null>('SERVICE_SHARED_CACHE_URL', {
    accepts: s3LocationForm,
    parse: parseS3Location,
    default: null,
    meaning:
      'Bucket that all machines share as an image cache: `s3://bucket/prefix?region=…`, or `endpoint=…` for S3-compatible storage. Credentials come from the environment or the machine.',
  }),
  sharedCacheTimeoutMs: integer('SERVICE_SHARED_CACHE_TIMEOUT_MS', 1, 60_000, {
    default: 300,
    meaning: 'Maximum milliseconds that a miss waits for the shared cache.',
  }),
  sharedCacheQueueBytes: integer('SERVICE_SHARED_CACHE_QUEUE_BYTES', 1, 2 ** 40, {
    default: ({ processes }, machine) =>
      Math.min(67_108_864, sourceBytes(machine, Number(processes))),
    defaultInWords: '67108864, less if memory is short',
    meaning:
      'Maximum bytes of images waiting to be written to the shared cache, per process. Further images are not written.',
  }),
  fetchConcurrency: integer('SERVICE_FETCH_CONCURRENCY', 1, 10_000, {
    default: 64,
    meaning:
      'Maximum concurrent source fetches, per process. One project can use three quarters of them.',
  }),
  privateSources: text<readonly string[]>('SERVICE_PRIVATE_SOURCES', {
    accepts:
      'a comma-separated list of CIDRs, IP addresses and host names, each with an optional port or `:*`',
    parse: (list) => parseList(list, (entry) => parsePrivateSource(entry) && entry),
    default: [],
    meaning:
      'Non-public hosts that sources may use, as comma-separated CIDRs, addresses or host names. Append a port (`10.0.0.5:9000`, `[fd00::/8]:9000`) or `:*` for all ports; the default is ports 80 and 443.',
  }),
  origins: text<readonly OriginEntry[]>('SERVICE_ORIGINS', {
    accepts: `a comma-separated list of \`host=target\` or \`host@project=target\`, each host and project once, with the target ${s3LocationForm}, \`file:///folder\`, or \`headers:Name=value&Name=value\`, names and values percent-encoded`,
    parse: (list) => parseOrigins(splitEntries(list)),
    default: [],
    meaning:
      'Private sources, as comma-separated `host=target`: the bucket, the folder or the request headers for a host.',
    secret: true,
    secretsIn: secretsOfOrigins,
  }),
  sourcePorts: text<Ports>('SERVICE_SOURCE_PORTS', {
    accepts: 'a comma-separated list of ports, or `*`',
    parse: parsePorts,
    default: defaultPorts,
    defaultInWords: '80,443',
    meaning: 'Ports that public sources may use, comma-separated; `*` allows all ports.',
  }),
  userAgent: text<string>('SERVICE_USER_AGENT', {
    accepts: 'at most 256 visible ASCII characters and inner spaces',
    parse: matching(/^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/),
    default: (above) => `image-delivery/${version} (+${above['baseUrl']})`,
    defaultInWords: 'image-delivery/<version> (+SERVICE_BASE_URL)',
    meaning:
      '`User-Agent` of requests for sources and of webhooks. Some servers refuse robots without a contact, such as a URL or an email address.',
  }),
  sourceProxy: text<string | null>('SERVICE_SOURCE_PROXY', {
    accepts: 'an http or https URL, optionally with a user name and a password, without a path',
    parse: (url) => (isProxyUrl(url) ? url : undefined),
    default: null,
    meaning:
      'HTTP proxy for source requests. The service resolves and checks addresses itself, and asks the proxy to `CONNECT` to them.',
    secret: true,
  }),
  sourceNoProxy: text<readonly PrivateSource[]>('SERVICE_SOURCE_NO_PROXY', {
    accepts: 'a comma-separated list of host names, CIDRs and addresses, or `*`',
    parse: parseNoProxy,
    default: [],
    defaultInWords: '`no_proxy`, else `NO_PROXY`',
    meaning:
      'Source hosts (including their subdomains) and networks to connect to without the proxy, each with an optional port.',
    platformVariables: ['no_proxy', 'NO_PROXY'],
  }),
  dnsServers: text<readonly string[] | null>('SERVICE_DNS_SERVERS', {
    accepts: 'a comma-separated list of IP addresses, each with an optional port',
    parse: parseDnsServers,
    default: null,
    defaultInWords: "(the system's)",
    meaning: 'DNS servers that resolve source hosts, comma-separated.',
  }),
  nat64Prefixes: text<readonly Network[]>('SERVICE_NAT64_PREFIXES', {
    accepts: 'a comma-separated list of IPv6 CIDRs with 32, 40, 48, 56, 64 or 96 bits',
    parse: (list) => parseList(list, parseNat64Prefix),
    default: [],
    meaning:
      "NAT64 prefixes of the machine's network except `64:ff9b::/96`, comma-separated. Sources may use addresses in them if the embedded IPv4 address is public.",
  }),
  sourceMaxBytes: integer('SERVICE_SOURCE_MAX_BYTES', 1, 2 ** 31, {
    default: 33_554_432,
    meaning: 'Maximum source size in bytes.',
  }),
  sourceHeldBytes: integer('SERVICE_SOURCE_HELD_BYTES', 1, 2 ** 40, {
    default: ({ processes, sourceMaxBytes }, machine) =>
      Math.max(
        2 * Number(sourceMaxBytes),
        Math.min(
          Math.max(134_217_728, 4 * Number(sourceMaxBytes)),
          sourceBytes(machine, Number(processes)),
        ),
      ),
    defaultInWords: '4 × SERVICE_SOURCE_MAX_BYTES, at least 134217728; less if memory is short',
    meaning:
      'Maximum bytes of sources being fetched, queued or transformed, per process. One project can use three quarters of them.',
  }),
  sourceCacheBytes: integer('SERVICE_SOURCE_CACHE_BYTES', 0, 2 ** 40, {
    default: ({ processes }, machine) => sourceCacheBytes(machine, Number(processes)),
    defaultInWords: '16777216, less if memory is short',
    meaning:
      'Maximum bytes of fetched sources kept for 30 seconds to render more variants, per process; 0 keeps none.',
  }),
  sourceMaxPixels: integer('SERVICE_SOURCE_MAX_PIXELS', 1, 2 ** 40, {
    default: 100_000_000,
    meaning: 'Maximum pixels in a source, all frames together.',
  }),
  sourceTimeoutMs: integer('SERVICE_SOURCE_TIMEOUT_MS', 1, 600_000, {
    default: 10_000,
    meaning: 'Timeout for a source fetch in ms, including up to 5 redirects.',
  }),
  sourceMinAgeSeconds: integer('SERVICE_SOURCE_MIN_AGE_SECONDS', 1, 31_536_000, {
    default: 10,
    meaning:
      'Minimum seconds between revalidations of a source, even if the project or origin specifies less.',
  }),
  sourceMaxAgeSeconds: integer('SERVICE_SOURCE_MAX_AGE_SECONDS', 1, 31_536_000, {
    default: 31_536_000,
    meaning: 'Maximum seconds between revalidations of a source, for projects with a source age.',
  }),
  staleIfErrorSeconds: integer('SERVICE_STALE_IF_ERROR_SECONDS', 0, 31_536_000, {
    default: 604_800,
    meaning:
      'Maximum seconds that outdated images are served while their origin fails, for projects with a source age.',
  }),
  missingAgeSeconds: integer('SERVICE_MISSING_AGE_SECONDS', 0, 86_400, {
    default: 10,
    meaning:
      'Seconds that browsers and CDNs keep a missing source (404 and 410) and a fallback, for projects that set no age; 0 for never.',
  }),
  autoFormats: text<readonly NegotiableFormat[]>('SERVICE_AUTO_FORMATS', {
    accepts: `a comma-separated list of ${negotiableFormats.join(', ')}`,
    parse: parseAutoFormats,
    default: defaultAutoFormats,
    defaultInWords: defaultAutoFormats.join(),
    meaning:
      'Formats that `auto` chooses from if `Accept` names them, best first. Use the same value for the service and its workers.',
  }),
  autoFirst: text<NegotiableFormat | null>('SERVICE_AUTO_FIRST', {
    accepts: `one of ${firstFormats.join(', ')}`,
    parse: (text) => firstFormats.find((format) => format === text),
    default: null,
    meaning:
      'Fast format from `SERVICE_AUTO_FORMATS` that `auto` sends first; the service renders the better format after responding.',
  }),
  heic: onOff('SERVICE_HEIC', 'Accept HEIC and HEIF sources. Patents cover their codec, HEVC.'),
  pdf: onOff('SERVICE_PDF', 'Accept PDF sources and render one page.', false),
  fonts: text<string | null>('SERVICE_FONTS', {
    accepts: 'a folder',
    parse: (folder) => resolve(folder),
    default: null,
    meaning:
      'Folder with up to 200 TTF, OTF and WOFF2 files, which texts can use in addition to Open Sans.',
  }),
  workerConcurrency: integer('SERVICE_WORKER_CONCURRENCY', 1, 1_000, {
    default: 4,
    meaning: 'Maximum concurrent prewarm jobs, per worker.',
  }),
  prewarmQueue: integer('SERVICE_PREWARM_QUEUE', 1, 10_000_000, {
    default: 20_000,
    meaning: 'Maximum sources waiting to be prewarmed, per project.',
  }),
  workbenchUsername: text<string | null>('SERVICE_WORKBENCH_USERNAME', {
    accepts: 'a user name without a colon',
    parse: matching(/^[^:]+$/),
    default: null,
    meaning: 'User name for the workbench, the job dashboard of the worker.',
  }),
  workbenchPassword: text<string | null>('SERVICE_WORKBENCH_PASSWORD', {
    accepts: 'a password',
    parse: (password) => password,
    default: null,
    meaning: 'Password for the workbench.',
    secret: true,
  }),
  purgeHookUrl: text<string | null>('SERVICE_PURGE_HOOK_URL', {
    accepts: 'an absolute http or https URL without user name, password and fragment',
    parse: (url) => (isHookUrl(url) ? url : undefined),
    default: null,
    meaning:
      'URL to which a worker posts the CDN tags of each purge; requires `SERVICE_HOOK_SECRET`.',
    secret: true,
  }),
  hookSecrets: text<readonly string[]>('SERVICE_HOOK_SECRET', {
    accepts: '`whsec_` and 24 to 64 bytes in Base64, or two such secrets with a comma in between',
    parse: parseWebhookSecrets,
    default: [],
    meaning:
      'Secret (`whsec_…`) that signs webhooks (Standard Webhooks). While you replace it, set the new and the old secret, comma-separated: both sign.',
    secret: true,
    secretsIn: (secrets) => secrets,
  }),
  logLevel: choice(
    'SERVICE_LOG_LEVEL',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    {
      default: null,
      defaultInWords: 'info; warn on a terminal',
      meaning:
        'Minimum log level: `trace`, `debug`, `info`, `warn`, `error` or `fatal`; `silent` disables logging.',
    },
  ),
  logFormat: choice('SERVICE_LOG_FORMAT', ['auto', 'json', 'text'], {
    default: 'auto',
    meaning:
      'Log format: `json` or readable `text`; `auto` for text on a terminal and JSON elsewhere.',
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
