import t from 'tap';
import {
  describeIgnored,
  ignoredVariables,
  loadSettings,
  proxyVariables,
  SettingsInvalid,
} from '../../../contract/settings/load.ts';
import { type Settings, settingRows } from '../../../contract/settings/table.ts';
import { headerComponents } from '../../../server/control/responses.ts';

/** Response headers other than tag headers. */
const ownHeaders = Object.keys(headerComponents)
  .filter((name) => !/-(Tag|Key)$/.test(name))
  .join(' ');

/** Returns an environment's errors; empty if it is valid. */
function findErrors(environment: Record<string, string>): readonly string[] {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.errors;
    throw error;
  }
}

t.test('parses values to their types', async (t) => {
  const settings = loadSettings({
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: '8080',
    SERVICE_BASE_URL: 'https://images.example.com/cdn//',
    SERVICE_INTERNAL_URL: 'http://10.0.0.7:3000/',
    SERVICE_TRUSTED_PROXIES: ' 10.0.0.0/8,2001:db8::1 ',
    SERVICE_MEMORY_CACHE_BYTES: '0',
    SERVICE_MONGODB_URL: 'mongodb+srv://u:p@db.example.com/images',
    SERVICE_PRIVATE_SOURCES: ' 10.0.0.0/8, fd00::/8 ,, *.pictures.internal,localhost ',
    SERVICE_DNS_SERVERS: '192.0.2.1, 192.0.2.1:5353,[2001:db8::1]:53',
    SERVICE_AUTO_FORMATS: 'jxl, webp',
    SERVICE_CACHE_TAG_HEADERS: 'CDN-Tag, xKey,cdn-tag',
    SERVICE_WORKBENCH_USERNAME: 'me',
    SERVICE_WORKBENCH_PASSWORD: '0123',
    SERVICE_LOG_LEVEL: 'silent',
    PATH: '/bin',
    MY_SERVICE_PORT: '1',
  });
  t.match(settings, {
    host: '127.0.0.1',
    port: 8080,
    baseUrl: 'https://images.example.com/cdn',
    internalUrl: 'http://10.0.0.7:3000',
    memoryCacheBytes: 0,
    mongodbUrl: 'mongodb+srv://u:p@db.example.com/images',
    workbenchPassword: '0123',
    logLevel: 'silent',
  });
  t.same(
    settings.trustedProxies.map(([base, bits]) => `${base}/${bits}`),
    ['10.0.0.0/8', '2001:db8::1/128'],
  );
  t.same(settings.autoFormats, ['jxl', 'webp']);
  t.same(settings.cacheTagHeaders, ['cdn-tag', 'xkey']);
  t.same(settings.dnsServers, ['192.0.2.1', '192.0.2.1:5353', '[2001:db8::1]:53']);
  t.same(settings.privateSources, ['10.0.0.0/8', 'fd00::/8', '*.pictures.internal', 'localhost']);
});

t.test('reports all errors together, with the variable and the accepted values', async (t) => {
  const found = findErrors({
    SERVICE_PORT: 'eighty',
    SERVICE_PROCESSES: '0',
    SERVICE_LOG_LEVEL: 'loud',
    SERVICE_BASE_URL: 'images.example.com',
    SERVICE_MONGODB_URL: 'postgres://db',
    SERVICE_TRUSTED_PROXIES: '10.0.0.0/8, proxy.example',
    SERVICE_ROOT_API_KEY: 'short',
    SERVICE_PROT: '80',
    SERVICE_WORKBENCH_USERNAME: 'me',
  });
  t.equal(found.length, 9);
  const text = found.join('\n');
  for (const expected of [
    /^SERVICE_PORT must be a whole number from 1 to 65535$/m,
    /^SERVICE_PROCESSES must be a whole number from 1/m,
    /^SERVICE_LOG_LEVEL must be .*debug.* or silent/m,
    /^SERVICE_TRUSTED_PROXIES must be .*CIDRs/m,
    /^SERVICE_BASE_URL must be .*http/m,
    /^SERVICE_MONGODB_URL must be .*mongodb:\/\//m,
    /^SERVICE_ROOT_API_KEY must be 8 to 256/m,
    /^SERVICE_PROT is not a setting .* Did you mean SERVICE_PORT\?$/m,
    /^SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD .*together/m,
  ]) {
    t.match(text, expected);
  }
  t.throws(() => loadSettings({ SERVICE_PORT: '0', SERVICE_HOTS: '1' }), {
    name: 'SettingsInvalid',
    message: /SERVICE_HOTS is not[\s\S]*SERVICE_PORT must be/,
  });
  t.match(findErrors({ PORT: 'x' }), [/^PORT must be a whole number/]);
});

t.test('rejects a misspelt variable, even if it is empty', async (t) => {
  for (const [variable, intended] of [
    ['SERVICE_port', 'SERVICE_PORT'],
    ['SERVICE_PORTS', 'SERVICE_PORT'],
    ['SERVICE_PRIVATE_SOURCE', 'SERVICE_PRIVATE_SOURCES'],
    ['SERVICE_PRIVAT_SOURCES', 'SERVICE_PRIVATE_SOURCES'],
    ['SERVICE_MONGO_URL', 'SERVICE_MONGODB_URL'],
    ['SERVICE_LOGLEVEL', 'SERVICE_LOG_LEVEL'],
    ['SERVICE_TRUSTED_PROXY', 'SERVICE_TRUSTED_PROXIES'],
  ] as const) {
    const expected = `${variable} is not a setting of this service. Did you mean ${intended}?`;
    t.same(findErrors({ [variable]: '1' }), [expected]);
    t.same(findErrors({ [variable]: '' }), [expected]);
  }
});

t.test('lists variables of egress proxies but hides their values', async (t) => {
  const environment = {
    HTTPS_PROXY: 'http://u:p@proxy:3128',
    http_proxy: 'x',
    ALL_PROXY: '',
    A: '',
  };
  t.same(proxyVariables(environment), ['HTTPS_PROXY', 'http_proxy']);
});

t.test('ignores and lists variables of orchestrators', async (t) => {
  // Consul and registrator, Coolify, Kubernetes' service links, Docker's links, and common ones.
  const names = `
    SERVICE_NAME SERVICE_ID SERVICE_TAGS SERVICE_80_NAME SERVICE_CHECK_HTTP SERVICE_REGION
    SERVICE_FQDN_APP SERVICE_URL_APP SERVICE_USER_APP SERVICE_PASSWORD_APP SERVICE_BASE64_APP
    SERVICE_SERVICE_HOST SERVICE_SERVICE_PORT SERVICE_SERVICE_PORT_HTTP SERVICE_PORT_80_TCP
    SERVICE_PORT_80_TCP_ADDR SERVICE_PORT_80_TCP_PORT SERVICE_PORT_80_TCP_PROTO
    SERVICE_WORKER_SERVICE_HOST SERVICE_WORKER_SERVICE_PORT SERVICE_WORKER_PORT_3001_TCP
    SERVICE_MONGODB_SERVICE_HOST SERVICE_ENV_PATH SERVICE_BINDING_ROOT SERVICE_VERSION
    SERVICE_ENVIRONMENT SERVICE_NAMESPACE SERVICE_ACCOUNT SERVICE_ROLE SERVICE_TYPE SERVICE_URL
    SERVICE_ROOT SERVICE_PATH SERVICE_ SERVICE___x`.match(/\S+/g);
  const environment = Object.fromEntries((names ?? []).map((name) => [name, 'x']));
  const others = { SERVICE: '1', service_port: 'x', XSERVICE_PORT: 'x', SERVICE_PORT: '80' };
  t.same(findErrors({ ...environment, ...others }), []);
  t.same(ignoredVariables({ ...environment, ...others }), names);
  t.same(['SERVICE_REGION', 'SERVICE_DISK_CACHE_SIZE', 'SERVICE_'].map(describeIgnored), [
    'SERVICE_REGION',
    'SERVICE_DISK_CACHE_SIZE (similar to SERVICE_DISK_CACHE_BYTES)',
    'SERVICE_',
  ]);
});

t.test("explains an address in a port's variable", async (t) => {
  const found = findErrors({
    SERVICE_PORT: 'tcp://10.0.0.1:80',
    SERVICE_WORKER_PORT: 'tcp://[fd00::1]:3001',
  });
  t.match(found, [
    /^SERVICE_PORT must be a whole number .* Kubernetes .* Service named service, .*enableServiceLinks/,
    /^SERVICE_WORKER_PORT .* named service-worker/,
  ]);
});

t.test('treats an empty variable as not set', async (t) => {
  const variables = settingRows.map(([, { variable }]) => [variable, '']);
  t.same(loadSettings(Object.fromEntries(variables)), loadSettings({}));
});

t.test('omits values, which can be secrets, from error messages', async (t) => {
  const secret = 'hunter2 hunter2';
  const environment = {
    SERVICE_ROOT_API_KEY: secret,
    SERVICE_MONGODB_URL: `http://u:${secret}@db`,
    SERVICE_PORT: secret,
    SERVICE_LOG_LEVEL: secret,
    SERVICE_BASE_URL: secret,
    SERVICE_WORKBENCH_PASSWORD: secret,
    SERVICE_ROOT_API_KY: secret,
    SERVICE_SHARED_CACHE_URL: `s3://id:${secret}@bucket`,
  };
  t.equal(findErrors(environment).length, 8);
  t.notMatch(findErrors(environment).join('\n'), /hunter2/);
  t.match(
    findErrors(environment).join('\n'),
    /SHARED_CACHE_URL .*; it must not contain credentials$/m,
  );
});

t.test('requires both a user name and a password for the workbench', async (t) => {
  const username = { SERVICE_WORKBENCH_USERNAME: 'me' };
  const password = { SERVICE_WORKBENCH_PASSWORD: 'x' };
  for (const invalid of [username, password, { ...username, SERVICE_WORKBENCH_PASSWORD: '' }]) {
    t.match(findErrors(invalid), [/must be set together/]);
  }
  t.same(findErrors({ ...username, ...password }), []);
});

t.test('requires a secret of 24 to 64 bytes for the purge hook', async (t) => {
  const createSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
  const url = { SERVICE_PURGE_HOOK_URL: 'https://cdn.example/purge?zone=1&token=a' };
  t.match(findErrors(url), [/^SERVICE_PURGE_HOOK_URL requires SERVICE_HOOK_SECRET/]);
  for (const bytes of [24, 25, 64]) {
    t.same(findErrors({ ...url, SERVICE_HOOK_SECRET: createSecret(bytes) }), []);
  }
  for (const secret of [
    createSecret(23),
    createSecret(65),
    createSecret(32).slice(1),
    `${createSecret(32)}!`,
  ]) {
    t.match(findErrors({ SERVICE_HOOK_SECRET: secret }), [/^SERVICE_HOOK_SECRET must be/]);
  }
  for (const wrong of [
    'cdn.example/purge',
    'ftp://cdn.example/',
    'https://u:p@cdn.example/',
    'https://a/#b',
  ]) {
    const found = findErrors({ SERVICE_PURGE_HOOK_URL: wrong });
    t.match(found, [/^SERVICE_PURGE_HOOK_URL must be/], wrong);
  }
});

t.test('accepts valid values of settings and rejects others', async (t) => {
  const networks = '10.0.0.0/8 127.0.0.1 ::1/128 fd00::/8 0.0.0.0/0 ::/0';
  const notNetworks = `10/8 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/ 10.0.0.0/8/8 10.0.0/8 ::/129
    fd00::/129 10.0.0.0/8x ::ffff:10.0.0.0/104 a/b 10.0.0.0/255.0.0.0`;
  const settings: Readonly<Record<string, readonly [accepted: string, refused: string]>> = {
    SERVICE_PORT: ['80', '1.5 -1 1e3 0x50 +80 8_0 true ∞ NaN'],
    SERVICE_TRUSTED_PROXIES: [
      networks,
      `${notNetworks} 127.1 0x7f000001 2130706433 0177.0.0.1 [::1] a.b 1 example.com`,
    ],
    SERVICE_PRIVATE_SOURCES: [
      `${networks} localhost,*.internal minio:9000,[fd00::/8]:*`,
      `${notNetworks} * *. http://10.0.0.1 e.com:x 300.0.0.1 10.0.0.0/8,::/x`,
    ],
    SERVICE_DNS_SERVERS: [
      '127.0.0.11 ::1 [::1]:5353',
      'dns.example 192.0.2.1:0 192.0.2.1:70000 2001:db8::1:x [::1 ,',
    ],
    SERVICE_AUTO_FORMATS: ['webp avif,webp jxl,avif,webp', 'png jpeg avif,avif , webp,'],
    SERVICE_AUTO_FIRST: ['webp avif', 'jpeg none avif,webp WEBP'],
    SERVICE_CACHE_TAG_HEADERS: [
      'none Cache-Tag surrogate-KEY,xkey Cache-Tag,,CDN-Tag',
      `, ETag etag Cache-Tag,ETag Cache-Tag,none X:Tag Tägtag x_key ${'x'.repeat(61)}-tag ${ownHeaders}`,
    ],
  };
  for (const [variable, [accepted, refused]] of Object.entries(settings)) {
    for (const text of accepted.split(/\s+/)) t.same(findErrors({ [variable]: text }), [], text);
    for (const text of refused.split(/\s+/)) {
      t.match(findErrors({ [variable]: text }), [new RegExp(`^${variable} must be`)], text);
    }
  }
  const padded = [{ SERVICE_PORT: ' 80' }, { SERVICE_PORT: '80 ' }];
  for (const invalid of [...padded, { SERVICE_PRIVATE_SOURCES: 'x y' }]) {
    t.equal(findErrors(invalid).length, 1, 'a value with a space');
  }
});

t.test('requires a cache for the first format of auto, which must be in its list', async (t) => {
  const first = (others: Record<string, string>) =>
    findErrors({ SERVICE_AUTO_FIRST: 'jxl', ...others });
  t.match(first({}), [/^SERVICE_AUTO_FIRST must be one of SERVICE_AUTO_FORMATS: avif,webp$/]);
  const formats = { SERVICE_AUTO_FORMATS: 'avif,jxl' };
  t.same(first(formats), []);
  const none = { SERVICE_MEMORY_CACHE_BYTES: '0', SERVICE_DISK_CACHE_BYTES: '0' };
  t.match(first({ ...formats, ...none }), [/^SERVICE_AUTO_FIRST requires a cache/]);
});

t.test('derives defaults from the cores and other settings', async (t) => {
  const machine = { cores: 10, memoryBytes: 2 ** 36 };
  const load = (environment: Record<string, string>) =>
    loadSettings(environment, new Map(), machine);
  t.match(load({}), {
    processes: 2,
    poolThreads: 6,
    poolQueue: 96,
    poolMemoryBytes: 6 * 2 ** 28,
    transformProcessMemoryBytes: 1_610_612_736,
    memoryCacheBytes: 2 ** 28,
    sharedCacheQueueBytes: 2 ** 26,
    sourceHeldBytes: 2 ** 27,
    // The defaults that the documents describe in words.
    console: true,
    crossSite: true,
    consolePictures: { project: '', urls: [] },
    cacheTagHeaders: ['cache-tag', 'surrogate-key'],
    sourcePorts: [80, 443],
    dnsServers: null,
    mongodbUrl: null,
    opsPort: null,
    logLevel: null,
    diskReserveBytes: null,
  });
  const url = 'http://e.com';
  const cases: readonly (readonly [Record<string, string>, Partial<Settings>])[] = [
    [{ SERVICE_POOL_THREADS: '3' }, { poolQueue: 48 }],
    [{ SERVICE_POOL_THREADS: '8' }, { poolMemoryBytes: 2 ** 31 }],
    [{ SERVICE_PROCESSES: '256' }, { poolThreads: 1 }],
    [{ SERVICE_POOL_THREADS: '1' }, { poolMemoryBytes: 2 ** 29 }],
    [{ SERVICE_SOURCE_MAX_BYTES: String(2 ** 26) }, { sourceHeldBytes: 2 ** 28 }],
    [
      { SERVICE_BASE_URL: url, SERVICE_POOL_QUEUE: '0' },
      { internalUrl: url, poolQueue: 0 },
    ],
    [{ PORT: '8080' }, { port: 8080, baseUrl: 'http://localhost:8080' }],
    [{ PORT: '8080', SERVICE_PORT: '' }, { port: 8080 }],
    [
      { PORT: '8080', SERVICE_PORT: '9000' },
      { port: 9000, baseUrl: 'http://localhost:9000' },
    ],
    [{ PORT: '' }, { port: 3000 }],
  ];
  for (const [environment, settings] of cases) t.match(load(environment), settings);
  t.throws(() => Object.assign(loadSettings({}), { port: 1 }), TypeError);
});

t.test('derives defaults from the memory and the CPU quota of a container', async (t) => {
  const mebibyte = 2 ** 20;
  const find = (memory: number, cores: number, environment: Record<string, string> = {}) => {
    const memoryBytes = memory * mebibyte;
    const settings = loadSettings(environment, new Map(), { cores, memoryBytes });
    const { processes, poolThreads, ...bytes } = settings;
    return [
      processes,
      poolThreads,
      ...[
        bytes.poolMemoryBytes,
        bytes.transformProcessMemoryBytes,
        bytes.memoryCacheBytes,
        bytes.sourceHeldBytes,
      ].map((value) => Math.floor(value / mebibyte)),
    ];
  };
  t.same(find(512, 2), [1, 1, 204, 224, 32, 64]);
  t.same(find(512, 64), [1, 1, 204, 224, 32, 64]);
  t.same(find(1_024, 64), [1, 4, 633, 377, 64, 102]);
  t.same(find(2_048, 64), [2, 5, 697, 441, 128, 102]);
  t.same(find(2_048, 4), [1, 5, 1_280, 1_312, 128, 128]);
  t.same(find(65_536, 64), [16, 5, 1_280, 1_536, 256, 128]);
  t.same(find(65_536, 0.5), [1, 1, 512, 1_536, 256, 128], 'a part of a core');
  t.same(find(128, 8), [1, 1, 128, 224, 8, 64], 'at least what the smallest service has');
  const explicit = { SERVICE_PROCESSES: '2', SERVICE_POOL_THREADS: '7' };
  t.match(find(512, 64, explicit), [2, 7], 'an explicit setting wins');
});
