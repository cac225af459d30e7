import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  HostsFile,
  NameResolver,
  type NameResolverOptions,
  searchDomains,
} from '../../../pool/source/resolver.ts';
import { stopTimers } from '../../clock.ts';
import { temporaryFolder } from '../../temporary-root.ts';
import { until } from '../../until.ts';
import { type DnsAnswer, startDnsServer } from './dns-server.ts';

async function createResolver(
  t: Test,
  answer: (name: string, family: 4 | 6) => DnsAnswer,
  options: Partial<NameResolverOptions> = {},
) {
  const server = await startDnsServer(t, answer);
  let time = 1;
  const resolver = new NameResolver({
    servers: [server.address],
    families: [4],
    now: () => time,
    ...options,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { resolver, queries: server.queries, pass };
}

async function file(t: Test, text: string): Promise<string> {
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, text);
  return path;
}

const v4 = { address: '192.0.2.1', family: 4 } as const;

t.test('caches a name for its time to live', async (t) => {
  const answer = { addresses: ['192.0.2.1'], ttl: 30 };
  const { resolver, queries, pass } = await createResolver(
    t,
    (_, family) => (family === 4 ? answer : { addresses: [] }),
    { families: [4, 6] },
  );
  const all = [1, 2, 3].map(() => resolver.resolve('shop.example'));
  for (const addresses of await Promise.all(all)) t.same(addresses, [v4]);
  const once = queries.length;
  pass(29_000);
  await resolver.resolve('shop.example');
  t.equal(queries.length, once);
  pass(2_000);
  await resolver.resolve('shop.example');
  t.equal(queries.length, 2 * once);
});

t.test('limits the time to live to 1 to 60 s', async (t) => {
  let ttl = 0;
  const { resolver, queries, pass } = await createResolver(t, () => ({
    addresses: ['192.0.2.1'],
    ttl,
  }));
  await resolver.resolve('zero.example');
  await resolver.resolve('zero.example');
  t.equal(queries.length, 1);
  ttl = 1e6;
  await resolver.resolve('week.example');
  pass(61_000);
  await resolver.resolve('week.example');
  t.equal(queries.length, 3);
});

t.test('caches a missing name for 5 s', async (t) => {
  const { resolver, queries, pass } = await createResolver(t, () => 'no such name');
  for (let i = 0; i < 3; i++)
    await t.rejects(resolver.resolve('none.example'), { code: 'ENOTFOUND' });
  t.equal(queries.length, 1);
  pass(6_000);
  await t.rejects(resolver.resolve('none.example'));
  t.equal(queries.length, 2);
});

t.test('times out on a dead name and does not delay others', async (t) => {
  const tick = stopTimers(t);
  const timeoutMs = 500;
  const { resolver, queries } = await createResolver(
    t,
    (name) => (name.startsWith('dead') ? 'silence' : { addresses: ['192.0.2.1'] }),
    { timeoutMs },
  );
  const dead = Array.from({ length: 40 }, (_, i) => resolver.resolve(`dead${i}.example`));
  const ended = Promise.allSettled(dead);
  await until('all are requested', () => queries.length >= 40);
  t.same(await resolver.resolve('alive.example'), [v4]);
  tick(timeoutMs);
  const cancelled = { status: 'rejected', reason: { code: 'ECANCELLED' } };
  for (const outcome of await ended) t.match(outcome, cancelled);
  await t.rejects(resolver.resolve('dead1.example'), 'cached');
  t.equal(queries.filter((name) => name === 'dead1.example').length <= 2, true);
});

t.test('returns both address families, and does not wait for a silent family', async (t) => {
  const { resolver } = await createResolver(
    t,
    (name, family) => {
      if (family === 4) return { addresses: ['192.0.2.1'] };
      return name.startsWith('half') ? 'silence' : { addresses: ['2001:db8:0:0:0:0:0:1'] };
    },
    { families: [4, 6] },
  );
  t.same(await resolver.resolve('half.example'), [v4]);
  const v6 = { address: '2001:db8::1', family: 6 };
  t.same(await resolver.resolve('both.example'), [v4, v6]);
});

t.test('returns a limited number of addresses', async (t) => {
  const addresses = Array.from({ length: 40 }, (_, i) => `192.0.2.${i}`);
  const { resolver } = await createResolver(t, () => ({ addresses }));
  const resolved = await resolver.resolve('many.example');
  t.equal(resolved.length, 32);
  t.ok(resolved.every(({ address }) => addresses.includes(address)));
});

t.test('resolves localhost and the hosts file locally', async (t) => {
  const path = await file(
    t,
    '# comment\n192.0.2.1 Shop.Internal shop # more\n::1 six\nnonsense x\n',
  );
  let time = 0;
  const hosts = new HostsFile(path, () => time);
  const { resolver, queries } = await createResolver(t, () => 'no such name', { hosts });
  t.same(await resolver.resolve('shop.internal'), [v4]);
  t.same(await resolver.resolve('shop'), [v4]);
  t.same(await resolver.resolve('six'), [{ address: '::1', family: 6 }]);
  t.same((await resolver.resolve('localhost'))[0], { address: '127.0.0.1', family: 4 });
  t.equal(queries.length, 0);
  await t.rejects(resolver.resolve('x'), { code: 'ENOTFOUND' });

  await writeFile(path, '192.0.2.1 added.example\n');
  time += 10_000;
  t.same(await resolver.resolve('added.example'), [v4], 'a changed file is reloaded');
  await rm(path);
  time += 10_000;
  await t.rejects(resolver.resolve('added.example'), { code: 'ENOTFOUND' });
});

t.test('waits for the hosts file that another resolution is reading', async (t) => {
  const path = await file(t, '192.0.2.1 shop.internal\n');
  const hosts = new HostsFile(path);
  const { resolver, queries } = await createResolver(t, () => 'no such name', { hosts });
  const resolved = [1, 2].map(() => resolver.resolve('shop.internal'));
  t.same(await Promise.all(resolved), [[v4], [v4]]);
  t.same(queries, []);
});

t.test('applies search domains to names that the operator configured', async (t) => {
  const path = await file(t, 'search one.test two.test.\noptions ndots:2 timeout:1\n');
  t.same(await searchDomains(path), { domains: ['one.test', 'two.test'], dots: 2 });
  t.same(await searchDomains(`${path}-none`), { domains: [], dots: 1 });
  const { resolver, queries } = await createResolver(
    t,
    (name) => (name === 'minio.two.test' ? { addresses: ['192.0.2.1'] } : 'no such name'),
    { searched: (name) => name === 'minio', resolvConf: path },
  );
  t.same(await resolver.resolve('minio'), [v4]);
  t.same(queries, ['minio.one.test', 'minio.two.test']);
  await t.rejects(resolver.resolve('other'), { code: 'ENOTFOUND' });
  t.equal(queries.at(-1), 'other');
});

t.test('limits the cache by bytes', async (t) => {
  const { resolver } = await createResolver(t, () => ({ addresses: ['192.0.2.1'] }), {
    cacheBytes: 20_000,
  });
  for (let i = 0; i < 60; i++) await resolver.resolve(`${'x'.repeat(60)}.n${i}.example`);
  t.ok(resolver.cached.names > 5 && resolver.cached.names < 40);
  t.ok(resolver.cached.bytes <= 20_000);
});
