import { availableParallelism } from 'node:os';
import { type Network, parseNetwork } from '../networks.ts';
import { defaultPorts, type Ports } from '../private-sources.ts';

/**
 * One setting: its environment variable, the accepted values (as a JSON Schema for ajv, and in
 * words for messages), the default and the description.
 */
export interface Setting<T> {
  readonly variable: `SERVICE_${string}`;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly accepts: string;
  /** A function where the default depends on settings above this one in the table. */
  readonly default: T | ((above: { readonly [name: string]: unknown }) => T);
  /** The default as shown in the documentation, where it is computed or null. */
  readonly defaultInWords?: string;
  readonly meaning: string;
  /** Converts the validated value to the one that the code uses. */
  readonly convert?: (value: never) => T;
  /** Redacted in logs, and no option of the commands, because all users of a machine see those. */
  readonly secret?: true;
  /** A variable that platforms set, for when the setting's own is not set. */
  readonly platformVariable?: string;
}

type Details<T> = Omit<Setting<T>, 'variable' | 'schema' | 'accepts'> & { accepts?: string };

function integer<T = number>(
  variable: Setting<T>['variable'],
  minimum: number,
  maximum: number,
  details: Details<T>,
): Setting<T> {
  const accepts = `a whole number from ${minimum} to ${maximum}`;
  return { variable, schema: { type: 'integer', minimum, maximum }, accepts, ...details };
}

function text<T>(
  variable: Setting<T>['variable'],
  accepts: string,
  schema: Readonly<Record<string, unknown>>,
  details: Details<T>,
): Setting<T> {
  return { variable, accepts, schema: { type: 'string', ...schema }, ...details };
}

const httpEngines = ['auto', 'uws', 'node'] as const;
export type HttpEngineSetting = (typeof httpEngines)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const logFormats = ['auto', 'json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

/** What the playground opens with; '' for no project. */
export interface ConsolePictures {
  readonly project: string;
  readonly urls: readonly string[];
}
/** All of it is in the page. Linux bounds a variable of the environment at 128 KiB. */
export const maxPicturesText = 65_536;

const atLeastOne = (n: number): number => Math.max(1, Math.floor(n));
/** The port of the operations listener where none is set. */
export const defaultOpsPort = 9_090;
const trimSlashes = (url: string): string => url.replace(/\/+$/, '');
export const splitList = (list: string): readonly string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/**
 * The settings of all processes of a deployment. The processes share one environment and reject
 * unknown variables, so they share this table. Parsing, types, error messages, `.env.example` and
 * the table of docs/settings.md derive from it.
 */
export const settingsTable = {
  host: text<string>(
    'SERVICE_HOST',
    'a host name or IP address to listen on',
    { minLength: 1 },
    {
      default: '0.0.0.0',
      meaning: 'Address of the public listener.',
    },
  ),
  port: integer('SERVICE_PORT', 1, 65_535, {
    default: 3000,
    defaultInWords: '`PORT`, else 3000',
    meaning: 'Port of the public listener. Cloud Run, Heroku and others name it in `PORT`.',
    platformVariable: 'PORT',
  }),
  baseUrl: text<string>(
    'SERVICE_BASE_URL',
    'an absolute http or https URL without query',
    { format: 'uri', pattern: '^https?://[^?#]+$' },
    {
      default: (above) => `http://localhost:${above['port']}`,
      defaultInWords: 'http://localhost:<port>',
      meaning: 'Base of the delivery URLs, as clients or the CDN reach the service.',
      convert: trimSlashes,
    },
  ),
  internalUrl: text<string>(
    'SERVICE_INTERNAL_URL',
    'an absolute http or https URL without query',
    { format: 'uri', pattern: '^https?://[^?#]+$' },
    {
      default: (above) => String(above['baseUrl']),
      defaultInWords: 'SERVICE_BASE_URL',
      meaning: 'Base of the URLs by which workers reach the service, past a CDN.',
      convert: trimSlashes,
    },
  ),
  trustedProxies: text<readonly Network[]>(
    'SERVICE_TRUSTED_PROXIES',
    'a comma-separated list of CIDRs and IP addresses',
    { format: 'network-list' },
    {
      default: [],
      defaultInWords: '(none)',
      meaning:
        'CIDRs or addresses of proxies whose `X-Forwarded-For` names the client, comma-separated. Limits for each client address need it behind a proxy.',
      convert: (list: string) =>
        splitList(list)
          .map(parseNetwork)
          .filter((network) => network !== null),
    },
  ),
  httpEngine: text<HttpEngineSetting>(
    'SERVICE_HTTP_ENGINE',
    httpEngines.join(', '),
    { enum: httpEngines },
    {
      default: 'auto',
      meaning:
        "The HTTP server: `uws` is uWebSockets.js, `node` is Node's own, `auto` the first where its binary loads and else the second.",
    },
  ),
  console: text<boolean>(
    'SERVICE_CONSOLE',
    'on, off',
    { enum: ['on', 'off'] },
    {
      default: true,
      defaultInWords: 'on',
      meaning:
        'The page at `/`, the API reference at `/docs`, and error pages for browsers; `off` for none of them.',
      convert: (word: string) => word === 'on',
    },
  ),
  crossSite: text<boolean>(
    'SERVICE_CROSS_SITE',
    'on, off',
    { enum: ['on', 'off'] },
    {
      default: true,
      defaultInWords: 'on',
      meaning:
        "Whether pages of any site may embed and read images. `off` refuses requests that such pages send, and those for a Host that is neither an IP address nor `localhost` nor the base URL's.",
      convert: (word: string) => word === 'on',
    },
  ),
  consolePictures: text<ConsolePictures>(
    'SERVICE_CONSOLE_PICTURES',
    `the id of a project and URLs of pictures, separated by spaces, of at most ${maxPicturesText} characters`,
    { pattern: '^[\\w-]+( +https?://[^ ]+)*$', maxLength: maxPicturesText },
    {
      default: { project: '', urls: [] },
      defaultInWords: '(none)',
      meaning:
        'What the playground opens with: the id of a project and the URLs of pictures that it offers, separated by spaces. Everybody who reaches the page sees them.',
      convert: (list: string) => {
        const [project = '', ...urls] = list.split(/ +/);
        return { project, urls };
      },
    },
  ),
  processes: integer('SERVICE_PROCESSES', 1, 256, {
    default: () => atLeastOne(availableParallelism() / 4),
    defaultInWords: 'cores / 4, at least 1',
    meaning: 'Front-end processes.',
  }),
  poolThreads: integer('SERVICE_POOL_THREADS', 1, 256, {
    default: (above) => atLeastOne(availableParallelism() / Number(above['processes'])),
    defaultInWords: 'cores / processes, at least 1',
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
      'Maximum estimated memory of the transforms that run and are not light, in each process; one beyond it runs alone.',
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
      'Free bytes that the disk cache leaves on its disk, for the embedded store and others; below them it deletes images whatever its own limit.',
  }),
  dataDir: text<string>(
    'SERVICE_DATA_DIR',
    'a folder',
    { minLength: 1 },
    {
      default: './data',
      meaning: 'Folder of the disk cache and the embedded store.',
    },
  ),
  mongodbUrl: text<string | null>(
    'SERVICE_MONGODB_URL',
    'a mongodb:// or mongodb+srv:// URL',
    { pattern: '^mongodb(\\+srv)?://.+' },
    {
      default: null,
      defaultInWords: '(the embedded store)',
      meaning: 'The MongoDB server. Its path names the database, `image_delivery` when empty.',
      secret: true,
    },
  ),
  staleProjectsSeconds: integer('SERVICE_STALE_PROJECTS_SECONDS', 0, 31_536_000, {
    default: 86_400,
    meaning:
      'While the store is unavailable, projects are served for this long after the store has last confirmed them, in seconds. Then, and for all others, images are 503 `store_unavailable`.',
  }),
  rootApiKey: text<string | null>(
    'SERVICE_ROOT_API_KEY',
    '8 to 256 visible ASCII characters (best: `sk_` and 43 random base64url characters)',
    { pattern: '^[\\x21-\\x7e]{8,256}$' },
    {
      default: null,
      defaultInWords: '(none)',
      meaning:
        'An all-project read-write key, added to the store at start. Without it, and with no key in the store, the first start creates a key and prints it once.',
      secret: true,
    },
  ),
  apiRateLimit: integer('SERVICE_API_RATE_LIMIT', 1, 1_000_000, {
    default: 600,
    meaning: 'Maximum control-plane requests per minute for each key.',
  }),
  privateSources: text<readonly string[]>(
    'SERVICE_PRIVATE_SOURCES',
    'a comma-separated list of CIDRs, IP addresses and host names, each with an optional port or `:*`',
    { format: 'source-list' },
    {
      default: [],
      defaultInWords: '(none)',
      meaning:
        'CIDRs, addresses or host names, comma-separated, that sources may use even though they are not public. A port (`10.0.0.5:9000`, `[fd00::/8]:9000`) or all (`:*`) may follow; without one, 80 and 443 are meant.',
      convert: splitList,
    },
  ),
  sourcePorts: text<Ports>(
    'SERVICE_SOURCE_PORTS',
    'a comma-separated list of ports, or `*`',
    { format: 'port-list' },
    {
      default: defaultPorts,
      defaultInWords: '80,443',
      meaning: 'Ports of public sources, comma-separated; `*` allows all.',
      convert: (list: string) =>
        splitList(list).includes('*') ? null : splitList(list).map(Number),
    },
  ),
  dnsServers: text<readonly string[] | null>(
    'SERVICE_DNS_SERVERS',
    'a comma-separated list of IP addresses, each with an optional port',
    { format: 'dns-server-list' },
    {
      default: null,
      defaultInWords: "(the system's)",
      meaning: 'DNS servers that resolve the names of source hosts.',
      convert: splitList,
    },
  ),
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
  transformProcessMemoryBytes: integer('SERVICE_TRANSFORM_PROCESS_MEMORY_BYTES', 2 ** 28, 2 ** 40, {
    default: 1_610_612_736,
    meaning:
      'Maximum memory in bytes of each transform process, which renders an SVG or encodes a large AVIF; there are at most as many as transform threads.',
  }),
  logLevel: text<LogLevel | null>(
    'SERVICE_LOG_LEVEL',
    logLevels.join(', '),
    { enum: logLevels },
    {
      default: null,
      defaultInWords: 'info; warn on a terminal',
      meaning: 'Minimum level of logged messages; `silent` for none.',
    },
  ),
  logFormat: text<LogFormat>(
    'SERVICE_LOG_FORMAT',
    logFormats.join(', '),
    { enum: logFormats },
    {
      default: 'auto',
      meaning:
        'Log lines are `json` objects or readable `text`; `auto` is text on a terminal and JSON elsewhere.',
    },
  ),
  opsPort: integer<number | null>('SERVICE_OPS_PORT', 0, 65_535, {
    default: null,
    defaultInWords: '9090, if it is free',
    meaning: "Port of the service's operations listener, which has `/metrics`; 0 disables it.",
  }),
  opsHost: text<string>(
    'SERVICE_OPS_HOST',
    'a host name or IP address to listen on',
    { minLength: 1 },
    {
      default: '127.0.0.1',
      meaning: "Address of the service's operations listener.",
    },
  ),
  workerPort: integer('SERVICE_WORKER_PORT', 1, 65_535, {
    default: 3001,
    meaning: "Port of the worker's operations server.",
  }),
  workerHost: text<string>(
    'SERVICE_WORKER_HOST',
    'a host name or IP address to listen on',
    { minLength: 1 },
    {
      default: '127.0.0.1',
      meaning: "Address of the worker's operations server.",
    },
  ),
  workbenchUsername: text<string | null>(
    'SERVICE_WORKBENCH_USERNAME',
    'a user name without a colon',
    { pattern: '^[^:]+$' },
    {
      default: null,
      defaultInWords: '(none)',
      meaning: 'User name of the queue dashboard; set both this and the password, or neither.',
    },
  ),
  workbenchPassword: text<string | null>(
    'SERVICE_WORKBENCH_PASSWORD',
    'a password',
    { minLength: 1 },
    {
      default: null,
      defaultInWords: '(none)',
      meaning: 'Password of the queue dashboard.',
      secret: true,
    },
  ),
  prewarmQueue: integer('SERVICE_PREWARM_QUEUE', 1, 10_000_000, {
    default: 20_000,
    meaning: 'Maximum sources that wait to be prewarmed, for each project.',
  }),
  workerConcurrency: integer('SERVICE_WORKER_CONCURRENCY', 1, 1_000, {
    default: 4,
    meaning: 'Maximum concurrent prewarm jobs, in each worker.',
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

/** The default as the documents show it. */
export function defaultInWords(setting: Setting<unknown>): string {
  return setting.defaultInWords ?? String(setting.default);
}
