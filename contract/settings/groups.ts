import type { SettingName } from './table.ts';

/** The headings under which the help of commands lists their options. */
const groups = {
  'Listeners and addresses': [
    'host',
    'port',
    'baseUrl',
    'internalUrl',
    'trustedProxies',
    'httpEngine',
    'opsPort',
    'opsHost',
    'workerPort',
    'workerHost',
    'drainDelayMs',
  ],
  'Data and store': ['dataDir', 'mongodbUrl', 'staleProjectsSeconds', 'encryptionKeys'],
  'Console, API and responses': [
    'console',
    'consolePictures',
    'crossSite',
    'cacheTagHeaders',
    'unknownParameters',
    'rootApiKey',
    'apiRateLimit',
  ],
  'Processes, queues and memory': [
    'processes',
    'poolThreads',
    'poolQueue',
    'poolMemoryBytes',
    'transformTimeoutMs',
    'svgTimeoutMs',
    'transformProcessMemoryBytes',
  ],
  Caches: [
    'memoryCacheBytes',
    'diskCacheBytes',
    'diskReserveBytes',
    'sharedCacheUrl',
    'sharedCacheTimeoutMs',
    'sharedCacheQueueBytes',
  ],
  Sources: [
    'fetchConcurrency',
    'privateSources',
    'origins',
    'sourcePorts',
    'dnsServers',
    'nat64Prefixes',
    'sourceMaxBytes',
    'sourceHeldBytes',
    'sourceCacheBytes',
    'sourceMaxPixels',
    'sourceTimeoutMs',
    'sourceMinAgeSeconds',
    'sourceMaxAgeSeconds',
    'staleIfErrorSeconds',
  ],
  'Formats and fonts': ['autoFormats', 'autoFirst', 'heic', 'pdf', 'fonts'],
  'Worker and webhooks': [
    'workerConcurrency',
    'prewarmQueue',
    'workbenchUsername',
    'workbenchPassword',
    'purgeHookUrl',
    'hookSecret',
  ],
  Logs: ['logLevel', 'logFormat'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>;

type Grouped = (typeof groups)[keyof typeof groups][number];

type Ungrouped = Exclude<SettingName, Grouped>;

/** The type checker names a setting that is in no group. */
const complete: [Ungrouped] extends [never] ? typeof groups : Ungrouped = groups;

/** Each heading with the names of its settings, in the order of the help. */
export const settingGroups = Object.entries(complete) as ReadonlyArray<
  readonly [heading: string, names: readonly SettingName[]]
>;
