import { createServer } from 'node:net';
import { MongoError, MongoServerError } from 'mongodb';
import t, { type Test } from 'tap';
import { connectStore, joinStore } from '../../store/open.ts';
import { describeOutage, isOutage, StoreUnavailable } from '../../store/outage.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { succeeds } from './connection.ts';

/** Returns a store behind a broken link, and its reported outages. */
async function connectDuringOutage(t: Test) {
  const link = await storeLink(t);
  await link.cut();
  const outages: (string | null)[] = [];
  const store = connectStore(link.url, (cause) => outages.push(cause));
  t.teardown(() => store.close());
  return { link, outages, store };
}

t.test('fails operations with the cause during an outage and does not prolong it', async (t) => {
  const { link, outages, store } = await connectDuringOutage(t);
  const messages = new Set<string>();
  const recovery = until('a result', () =>
    store.projects.find('prj_none').then(
      () => true,
      (error) => {
        messages.add((store.explain(error) as Error).message);
        return false;
      },
    ),
  );
  await until('an outage and a failure', () => outages.length > 0 && messages.size > 0);
  await link.mend();
  await store.established();
  await recovery;
  t.match(outages, [/^127\.0\.0\.1:\d+ refuses connections \(ECONNREFUSED\)$/, null]);
  t.match([...messages].join(), /ECONNREFUSED/);
  t.notMatch([...messages].join(), /topology/i);
});

t.test('treats a connection that breaks during a command as an outage', async (t) => {
  const link = await storeLink(t);
  // More than a socket buffers: the driver rejects with the socket's own error while it waits.
  const text = 'x'.repeat(4_000_000);
  const insert = () => link.db.collection('any').insertOne({ text });
  const errors: unknown[] = [];
  await until('such an error', async () => {
    link.reset(false);
    await until('an answer', () => succeeds(link.db.command({ ping: 1 })));
    link.reset(true);
    await insert().catch((error) => errors.push(error));
    return errors.some((error) => !(error instanceof MongoError));
  });
  link.reset(false);
  for (const error of errors) t.ok(isOutage(error), String(error));
});

t.test('treats a store that accepts connections but does not respond as unavailable', async (t) => {
  const { link, outages, store } = await connectDuringOutage(t);
  const { port } = new URL(link.url.replace(/^mongodb/, 'http'));
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((done) => silent.listen(Number(port), '127.0.0.1', done));
  await until('an outage', () => outages.length > 0);
  const closed = new Promise((done) => silent.close(done));
  for (const socket of sockets) socket.destroy();
  await closed;
  await link.mend();
  await store.established();
  t.equal(await store.projects.find('prj_none'), null);
});

t.test('closes a store while it connects', async (t) => {
  const { store, outages } = await connectDuringOutage(t);
  const waiting = t.rejects(store.established());
  await store.close();
  await waiting;
  t.same(outages, [], 'without a reported outage');
});

t.test('omits credentials from error messages', async (t) => {
  const link = await storeLink(t);
  const join = (mongodbUrl: string) => joinStore({ mongodbUrl, dataDir: t.testdir() });
  await t.rejects(join(link.url.replace('//', '//somebody:s3cret@')), {
    name: 'StoreUnavailable',
    message: /^The store is unavailable: authentication failed: (?!.*s3cret)/,
  });
  await t.rejects(join('mongodb+srv://somebody:s3cret@there-is-none.invalid/'), {
    name: 'StoreUnavailable',
    message: /^The store is unavailable: query\w+ \w+ _mongodb\._tcp\.there-is-none\.invalid\.$/,
  });
  for (const password of ['s3@cret', 's3/cret', 's3%cret']) {
    await t.rejects(join(`mongodb://me:${password}@h/`), {
      name: 'StoreUrlInvalid',
      message: /^SERVICE_MONGODB_URL cannot be used: (?!.*(s3|cret))/,
    });
  }
});

t.test('distinguishes store errors from others', async (t) => {
  const reply = (code: number) => new MongoServerError({ message: 'no', code });
  for (const code of [13, 18, 91, 189, 10_107, 14_031]) t.ok(isOutage(reply(code)), `${code}`);
  t.ok(isOutage(new StoreUnavailable('it is slow')));
  for (const code of [1, 2, 59, 115, 11_000]) t.notOk(isOutage(reply(code)), `${code}`);
  for (const error of [new Error('no'), new TypeError('no'), null, undefined, 'no', {}]) {
    t.notOk(isOutage(error));
  }
  t.equal(describeOutage(reply(13)), 'permission denied: no (code 13)');
});
