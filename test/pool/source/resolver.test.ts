import { isIPv4 } from 'node:net';
import t, { type Test } from 'tap';
import { NameResolver, type NameResolverOptions } from '../../../pool/source/resolver.ts';
import { stopTimers } from '../../clock.ts';
import { until } from '../../until.ts';
import { type DnsAnswer, startDnsServer } from './dns-server.ts';

/** Names have no IPv6 addresses unless the answer distinguishes families. */
async function createResolver(
  t: Test,
  answer: (name: string, family: 4 | 6) => DnsAnswer,
  options: Partial<NameResolverOptions> = {},
) {
  const server = await startDnsServer(t, (name, family) => {
    const given = answer(name, family);
    const isIpv4 = typeof given === 'object' && given.addresses.every((text) => isIPv4(text));
    return family === 6 && isIpv4 ? { addresses: [] } : given;
  });
  let time = 1;
  const resolver = new NameResolver({
    servers: [server.address],
    now: () => time,
    ...options,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { resolver, queries: server.queries, pass };
}

const v4 = { address: '192.0.2.1', family: 4 } as const;

t.test('caches a name for its time to live', async (t) => {
  const answer = { addresses: ['192.0.2.1'], ttl: 30 };
  const { resolver, queries, pass } = await createResolver(t, (_, family) =>
    family === 4 ? answer : { addresses: [] },
  );
  const all = [1, 2, 3].map(() => resolver.resolve('shop.example', false));
  for (const addresses of await Promise.all(all)) t.same(addresses, [v4]);
  const once = queries.length;
  pass(29_000);
  await resolver.resolve('shop.example', false);
  t.equal(queries.length, once);
  pass(2_000);
  await resolver.resolve('shop.example', false);
  t.equal(queries.length, 2 * once);
});

t.test('limits the time to live to 1 to 60 s', async (t) => {
  let ttl = 0;
  const { resolver, queries, pass } = await createResolver(t, () => ({
    addresses: ['192.0.2.1'],
    ttl,
  }));
  await resolver.resolve('zero.example', false);
  await resolver.resolve('zero.example', false);
  t.equal(queries.length, 2);
  ttl = 1e6;
  await resolver.resolve('week.example', false);
  pass(61_000);
  await resolver.resolve('week.example', false);
  t.equal(queries.length, 6);
});

t.test('caches a missing name for 5 s', async (t) => {
  const { resolver, queries, pass } = await createResolver(t, () => 'no such name');
  for (let i = 0; i < 3; i++)
    await t.rejects(resolver.resolve('none.example', false), { code: 'ENOTFOUND' });
  t.equal(queries.length, 2);
  pass(6_000);
  await t.rejects(resolver.resolve('none.example', false));
  t.equal(queries.length, 4);
});

t.test('times out on a dead name and does not delay others', async (t) => {
  const tick = stopTimers(t);
  const timeoutMs = 500;
  const { resolver, queries } = await createResolver(
    t,
    (name) => (name.startsWith('dead') ? 'silence' : { addresses: ['192.0.2.1'] }),
    { timeoutMs },
  );
  const dead = Array.from({ length: 40 }, (_, i) => resolver.resolve(`dead${i}.example`, false));
  const ended = Promise.allSettled(dead);
  await until('all are requested', () => queries.length >= 80);
  t.same(await resolver.resolve('alive.example', false), [v4]);
  tick(timeoutMs);
  const cancelled = { status: 'rejected', reason: { code: 'ECANCELLED' } };
  for (const outcome of await ended) t.match(outcome, cancelled);
  await t.rejects(resolver.resolve('dead1.example', false), 'cached');
  t.equal(queries.filter((name) => name === 'dead1.example').length <= 4, true);
});

t.test('returns both address families, and does not wait for a silent family', async (t) => {
  const { resolver } = await createResolver(t, (name, family) => {
    if (family === 4) return { addresses: ['192.0.2.1'] };
    return name.startsWith('half') ? 'silence' : { addresses: ['2001:db8:0:0:0:0:0:1'] };
  });
  t.same(await resolver.resolve('half.example', false), [v4]);
  const v6 = { address: '2001:db8::1', family: 6 };
  t.same(await resolver.resolve('both.example', false), [v4, v6]);
});

t.test('returns a limited number of addresses', async (t) => {
  const addresses = Array.from({ length: 40 }, (_, i) => `192.0.2.${i}`);
  const { resolver } = await createResolver(t, () => ({ addresses }));
  const resolved = await resolver.resolve('many.example', false);
  t.equal(resolved.length, 32);
  t.ok(resolved.every(({ address }) => addresses.includes(address)));
});

t.test("resolves configured names by the hosts file, after the operator's servers", async (t) => {
  const { resolver, queries } = await createResolver(t, (name) =>
    name === 'minio' ? { addresses: ['192.0.2.1'] } : 'no such name',
  );
  t.match(await resolver.resolve('localhost', true), [{ address: /^(127\.0\.0\.1|::1)$/ }]);
  t.ok(queries.includes('localhost'));
  t.match(await resolver.resolve('minio', true), [v4]);
  await t.rejects(resolver.resolve('localhost', false), { code: 'ENOTFOUND' });
  const system = new NameResolver({ servers: null });
  t.match(await system.resolve('localhost', true), [{ address: /^(127\.0\.0\.1|::1)$/ }]);
});
