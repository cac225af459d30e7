import { availableParallelism } from 'node:os';
import t from 'tap';
import { loadSettings } from '../../../contract/settings/load.ts';
import { settingRows } from '../../../contract/settings/table.ts';

const cores = availableParallelism();

t.test('without any variable the service starts with these', async (t) => {
  t.same(loadSettings({}), {
    host: '0.0.0.0',
    port: 3000,
    baseUrl: 'http://localhost:3000',
    internalUrl: 'http://localhost:3000',
    trustedProxies: [],
    httpEngine: 'auto',
    console: true,
    crossSite: true,
    consolePictures: { project: '', urls: [] },
    processes: Math.max(1, Math.floor(cores / 4)),
    poolThreads: Math.max(1, Math.floor(cores / Math.max(1, Math.floor(cores / 4)))),
    poolQueue: 16 * Math.max(1, Math.floor(cores / Math.max(1, Math.floor(cores / 4)))),
    poolMemoryBytes: Math.max(
      536_870_912,
      268_435_456 * Math.max(1, Math.floor(cores / Math.max(1, Math.floor(cores / 4)))),
    ),
    fetchConcurrency: 64,
    memoryCacheBytes: 268_435_456,
    diskCacheBytes: 10_737_418_240,
    diskReserveBytes: null,
    dataDir: './data',
    mongodbUrl: null,
    rootApiKey: null,
    apiRateLimit: 600,
    privateSources: [],
    sourcePorts: [80, 443],
    staleProjectsSeconds: 86_400,
    dnsServers: null,
    sourceMaxBytes: 33_554_432,
    sourceHeldBytes: 134_217_728,
    sourceMaxPixels: 100_000_000,
    sourceTimeoutMs: 10_000,
    transformTimeoutMs: 20_000,
    transformProcessMemoryBytes: 1_610_612_736,
    logLevel: null,
    logFormat: 'auto',
    opsPort: null,
    opsHost: '127.0.0.1',
    workerPort: 3001,
    workerHost: '127.0.0.1',
    workbenchUsername: null,
    workbenchPassword: null,
    prewarmQueue: 20_000,
    workerConcurrency: 4,
  });
});

t.test('defaults that depend on other settings follow them', async (t) => {
  t.equal(loadSettings({ SERVICE_PORT: '8080' }).baseUrl, 'http://localhost:8080');
  t.equal(loadSettings({ SERVICE_POOL_THREADS: '3' }).poolQueue, 48);
  const many = loadSettings({ SERVICE_PROCESSES: '256' });
  t.match(many, { poolThreads: Math.max(1, Math.floor(cores / 256)) });
  t.equal(many.poolQueue, 16 * many.poolThreads);
  t.equal(loadSettings({ SERVICE_POOL_THREADS: '8' }).poolMemoryBytes, 2 ** 31);
  const larger = loadSettings({ SERVICE_SOURCE_MAX_BYTES: String(2 ** 26) });
  t.equal(larger.sourceHeldBytes, 2 ** 28);
  const own = { SERVICE_PORT: '8080', SERVICE_BASE_URL: 'http://e.com', SERVICE_POOL_QUEUE: '0' };
  t.match(loadSettings(own), {
    baseUrl: 'http://e.com',
    internalUrl: 'http://e.com',
    poolQueue: 0,
  });
});

t.test('the variables that deployments use are these', async (t) => {
  t.same(settingRows.map(([, { variable }]) => variable.replace('SERVICE_', '')).sort(), [
    'API_RATE_LIMIT',
    'BASE_URL',
    'CONSOLE',
    'CONSOLE_PICTURES',
    'CROSS_SITE',
    'DATA_DIR',
    'DISK_CACHE_BYTES',
    'DISK_RESERVE_BYTES',
    'DNS_SERVERS',
    'FETCH_CONCURRENCY',
    'HOST',
    'HTTP_ENGINE',
    'INTERNAL_URL',
    'LOG_FORMAT',
    'LOG_LEVEL',
    'MEMORY_CACHE_BYTES',
    'MONGODB_URL',
    'OPS_HOST',
    'OPS_PORT',
    'POOL_MEMORY_BYTES',
    'POOL_QUEUE',
    'POOL_THREADS',
    'PORT',
    'PREWARM_QUEUE',
    'PRIVATE_SOURCES',
    'PROCESSES',
    'ROOT_API_KEY',
    'SOURCE_HELD_BYTES',
    'SOURCE_MAX_BYTES',
    'SOURCE_MAX_PIXELS',
    'SOURCE_PORTS',
    'SOURCE_TIMEOUT_MS',
    'STALE_PROJECTS_SECONDS',
    'TRANSFORM_PROCESS_MEMORY_BYTES',
    'TRANSFORM_TIMEOUT_MS',
    'TRUSTED_PROXIES',
    'WORKBENCH_PASSWORD',
    'WORKBENCH_USERNAME',
    'WORKER_CONCURRENCY',
    'WORKER_HOST',
    'WORKER_PORT',
  ]);
});

t.test("a platform's PORT is the port unless the setting is given", async (t) => {
  t.match(loadSettings({ PORT: '8080' }), { port: 8080, baseUrl: 'http://localhost:8080' });
  t.equal(loadSettings({ PORT: '8080', SERVICE_PORT: '' }).port, 8080);
  t.equal(loadSettings({ PORT: '8080', SERVICE_PORT: '9000' }).port, 9000);
  t.equal(loadSettings({ PORT: '' }).port, 3000);
});

t.test('settings cannot be changed after the start', async (t) => {
  t.throws(() => Object.assign(loadSettings({}), { port: 1 }), TypeError);
});
