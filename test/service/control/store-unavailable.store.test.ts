import { MongoClient } from 'mongodb';
import t from 'tap';
import { storeLink } from '../../server/store-link.ts';
import { startOwner } from '../../store/embedded/children.ts';
import { shortFolder } from '../../store/embedded/stores.ts';
import { until } from '../../until.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { StrictConnection } from '../raw-http.ts';
import { rootKey, startControl } from './control.ts';

t.test(
  'returns 503 but serves cached projects during a store outage, and then recovers',
  async (t) => {
    const link = await storeLink(t);
    const [{ port = 0 } = {}] = link.db.client.options.hosts;
    const origin = await startTestOrigin(t);
    origin.serve('/a.jpg', await picture(400, 300));
    origin.serve('/b.jpg', await picture(300, 200));
    const control = await startControl(t, {
      SERVICE_MONGODB_URL: `mongodb://127.0.0.1:${port}/${link.db.databaseName}`,
      SERVICE_API_RATE_LIMIT: '20',
    });
    const { call, service } = control;
    const id = await control.project();
    const image = async (path: string, project = id) => {
      const url = `${service.url}/img/${origin.url}${path}?project=${project}`;
      return (await fetch(url)).status;
    };
    const tier = async (path: string) => {
      const url = `${service.url}/img/${origin.url}${path}?project=${id}`;
      return (await fetch(url)).headers.get('x-cache');
    };
    const atHosts = (...hosts: string[]) =>
      Promise.all(
        hosts.map(async (host) => {
          const connection = await StrictConnection.open(service.port);
          const path = host.startsWith('native') ? `/img/${origin.url}/a.jpg` : '/a.jpg';
          const { status } = await connection.request('GET', path, { host });
          connection.close();
          return status;
        }),
      );
    const health = async () => (await fetch(`${service.url}/api/health`)).status;
    await call('PUT', `/projects/${id}/presets/card`, { json: { parameters: { w: 40 } } });
    t.same([await image('/a.jpg'), await health()], [200, 200]);
    const [frontEnd] = service.frontEnds();

    // The service caches the key for a second, so requests reach the limiter. A new key restarts
    // that second.
    const key = await control.issue(null, 'write');
    t.equal((await call('GET', '/projects', { key })).status, 200);
    t.same(await atHosts('a.example', 'native.example'), [404, 400]);
    await link.cut();
    const unknownHosts = atHosts('b.example', 'native.b.example');
    const waiting = Promise.all([
      ...Array.from({ length: 30 }, () => call('GET', '/projects', { key })),
      ...Array.from({ length: 30 }, () => call('POST', '/projects', { key, body: '{"name":"x"}' })),
    ]);
    const unknown = call('GET', '/projects', { key: 'sk_somebody-else' });
    t.same([await image('/a.jpg'), await image('/b.jpg')], [200, 200], 'cached and new images');

    t.same(await unknownHosts, [503, 503], 'before the service notices the outage');
    await until('known hosts without a project return 503 after it has noticed', async () => {
      const statuses = await atHosts('a.example', 'native.example');
      return statuses.every((status) => status === 503);
    });
    // Both cached and unknown keys get 503.
    for (const { status, body, headers } of [...(await waiting), await unknown]) {
      t.equal(status, 503);
      t.match(headers['retry-after'], /^\d+$/);
      t.same(Object.keys(body).sort(), ['code', 'error', 'message', 'resolution_hint']);
      t.equal(body.code, 'store_unavailable');
      t.notMatch(JSON.stringify(body), /mongo|ECONN|127\.0\.0\.1|server selection/i);
    }
    const failures = service.log.filter(({ msg }) => msg === 'request failed unexpectedly');
    t.same(failures, [], 'the log has the outage and not each request');
    t.notMatch(service.stdout(), rootKey, 'nor a key');

    const logged = (text: string) => () => service.log.some(({ msg }) => msg.startsWith(text));
    await until('the log says so', logged('store unavailable'));
    t.equal(await health(), 503);
    t.same([await image('/a.jpg'), await image('/b.jpg')], [200, 200]);
    t.equal(await image('/b.jpg', `${id}&preset=card`), 200, 'with its presets');
    t.equal((await call('GET', `/projects/${id}`)).status, 503);
    t.equal((await call('POST', `/projects/${id}/purge`, { json: { all: true } })).status, 503);
    t.equal(await tier('/a.jpg'), 'memory', 'nothing is purged');
    t.equal(
      (await call('GET', `/projects/${id}`, { key: null })).status,
      401,
      'the order of the checks',
    );

    await link.mend();
    await until('the control plane works again', async () => {
      return (await call('GET', `/projects/${id}`)).status === 200;
    });
    await until('the log says so', logged('store available after '));
    t.equal(await health(), 200);
    t.same(service.frontEnds(), [frontEnd], 'in the same process');
    const { body } = await call('GET', '/projects');
    t.equal(body.projects.length, 1, 'failed calls had no effect');
    t.equal(await tier('/a.jpg'), 'memory');
    t.equal((await call('POST', `/projects/${id}/purge`, { json: { all: true } })).status, 202);
    t.equal(await tier('/a.jpg'), 'miss');
    const src = 'http://127.0.0.1:9/a.jpg';
    t.equal((await call('POST', `/projects/${id}/prewarm`, { json: { src } })).status, 202);
  },
);

t.test('reads from a full store, and explains failed writes', async (t) => {
  // The shell's file size limit, in 512-byte blocks, stands for a full disk.
  const limited = ['sh', '-c', 'ulimit -f 2000; exec "$@"', 'sh'];
  const url = await startOwner(t, [shortFolder(t)], limited).nextLine();
  const control = await startControl(t, {
    SERVICE_MONGODB_URL: url,
    SERVICE_API_RATE_LIMIT: '20',
  });
  const { call } = control;
  const key = await control.issue(null, 'write');
  const id = await control.project();
  const client = await MongoClient.connect(url);
  t.teardown(() => client.close());
  const filling = client.db().collection('filling');
  for (const bytes of [50_000, 1_000, 10]) {
    const text = 'x'.repeat(bytes);
    while (await filling.insertOne({ text }).catch(() => null));
  }
  const json = { name: 'Two', origin: 'https://b.example' };
  const failed = await call('POST', '/projects', { key, json });
  t.same([failed.status, failed.body.code], [503, 'store_unavailable']);
  t.match(failed.body.message, /The store's disk is full/);
  const reads = await Promise.all(
    Array.from({ length: 25 }, () => call('GET', `/projects/${id}`, { key })),
  );
  const others = reads.filter(({ status }) => status !== 200 && status !== 429);
  t.same(
    others.map(({ status, body }) => `${status} ${body.message}`),
    [],
  );
  t.equal(reads.filter(({ status }) => status === 200).length, 19, 'in the limits of a process');
});
