import { availableParallelism } from 'node:os';
import t from 'tap';
import { loadSettings } from '../../../contract/settings/load.ts';

const cores = availableParallelism();

t.test('defaults depend on the cores and other settings', async (t) => {
  const processes = Math.max(1, Math.floor(cores / 4));
  const poolThreads = Math.max(1, Math.floor(cores / processes));
  const poolMemoryBytes = Math.max(2 ** 29, 2 ** 28 * poolThreads);
  const poolQueue = 16 * poolThreads;
  t.match(loadSettings({}), { processes, poolThreads, poolQueue, poolMemoryBytes });
  t.equal(loadSettings({}).sourceHeldBytes, 2 ** 27);
  // Those that the documents describe in words.
  t.match(loadSettings({}), {
    console: true,
    crossSite: true,
    consolePictures: { project: '', urls: [] },
    sourcePorts: [80, 443],
    dnsServers: null,
    mongodbUrl: null,
    opsPort: null,
    logLevel: null,
    diskReserveBytes: null,
  });
  t.equal(loadSettings({ SERVICE_PORT: '8080' }).baseUrl, 'http://localhost:8080');
  t.equal(loadSettings({ SERVICE_POOL_THREADS: '3' }).poolQueue, 48);
  const many = loadSettings({ SERVICE_PROCESSES: '256' });
  t.match(many, { poolThreads: Math.max(1, Math.floor(cores / 256)) });
  t.equal(many.poolQueue, 16 * many.poolThreads);
  t.equal(loadSettings({ SERVICE_POOL_THREADS: '8' }).poolMemoryBytes, 2 ** 31);
  const larger = loadSettings({ SERVICE_SOURCE_MAX_BYTES: String(2 ** 26) });
  t.equal(larger.sourceHeldBytes, 2 ** 28);
  const own = { SERVICE_PORT: '8080', SERVICE_BASE_URL: 'http://e.com', SERVICE_POOL_QUEUE: '0' };
  const url = 'http://e.com';
  t.match(loadSettings(own), { baseUrl: url, internalUrl: url, poolQueue: 0 });
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
