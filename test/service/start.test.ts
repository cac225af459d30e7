import { createServer } from 'node:net';
import t from 'tap';
import { defaultOpsPort } from '../../contract/settings/table.ts';
import { launch, startService } from './service.ts';

t.test('a port in use is a clear error', async (t) => {
  // Whoever has it: Prometheus has the same default port, and so has a second service.
  const holder = createServer();
  await new Promise((done) => {
    holder.once('error', done).listen(defaultOpsPort, '127.0.0.1', () => done(null));
  });
  t.teardown(() => holder.close());
  const first = await startService(t, { environment: { SERVICE_OPS_PORT: '' } });
  const warning = first.log.find(({ msg }) => msg.startsWith('there are no metrics'));
  t.match(warning, { port: defaultOpsPort }, 'only a port that is set must be free');
  const second = await launch(t, { port: first.port });
  t.equal(await second.end('SIGCONT'), 1);
  t.match(second.stderr(), new RegExp(`SERVICE_PORT ${first.port} .*EADDRINUSE`));
});

const embedded = !process.env['SERVICE_MONGODB_URL'];
t.test('a data folder in use is a clear error', { skip: !embedded }, async (t) => {
  const first = await startService(t);
  const second = await launch(t, { dataDir: first.dataDir });
  t.equal(await second.end('SIGCONT'), 1);
  t.match(second.stderr(), new RegExp(`belongs to process ${first.primary.pid}`));
});

t.test('mistaken settings are all told at once', async (t) => {
  const service = await launch(t, {
    environment: {
      SERVICE_PROCESSES: 'many',
      SERVICE_PRIVAT_SOURCES: 'x',
      SERVICE_POOL_QUEUE: '-1',
    },
  });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /SERVICE_PROCESSES must be a whole number from 1 to 256/);
  t.match(service.stderr(), /SERVICE_PRIVAT_SOURCES is not a setting/);
  t.match(service.stderr(), /SERVICE_POOL_QUEUE must be/);
});

t.test('a first key is made and shown once', async (t) => {
  const service = await startService(t);
  const [key] = /sk_[\w-]{43}/.exec(service.stdout()) ?? [];
  t.ok(key);
  t.notOk(
    service.log.some((line) => JSON.stringify(line).includes(String(key))),
    'not in the log',
  );
  t.equal(await service.end('SIGTERM'), 0);
  const { dataDir, environment } = service;
  const again = await startService(t, { dataDir, environment, port: service.port });
  t.notMatch(again.stdout(), /sk_/);
});

/** What tells uWebSockets.js to do without its binary, as where none loads. */
const withoutBinary = { UWS_USE_FALLBACK: '1' };

t.test("where uWebSockets.js does not load, Node's own HTTP server serves", async (t) => {
  const environment = { ...withoutBinary, SERVICE_CONSOLE: 'off' };
  const service = await startService(t, { environment });
  const { engine, because } = await service.waitForLog((line) => 'engine' in line);
  t.equal(engine, 'node');
  t.match(because, /^uWebSockets\.js has no native binary for Node \d+/);
  t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  for (const path of ['/', '/docs']) {
    const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
    t.equal(response.status, 404, 'the console is off');
    t.match(await response.json(), { code: 'endpoint_not_found' });
  }
  const notJson = service.stdout().replaceAll(/^(\{.*)?\n/gm, '');
  t.notMatch(notJson, /µWS|fallback/i, 'the package says nothing of it');
});

t.test('the engine that the setting insists on or none', async (t) => {
  const environment = { ...withoutBinary, SERVICE_HTTP_ENGINE: 'uws' };
  const service = await launch(t, { environment });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /could not start: uWebSockets\.js has no native binary for Node \d+/);
  t.notOk(service.log.some(({ msg }) => msg === 'the service is ready'));
});
