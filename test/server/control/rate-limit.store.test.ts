import t from 'tap';
import { RateLimit, type RateLimitResult } from '../../../server/control/rate-limit.ts';
import { isOutage } from '../../../store/outage.ts';
import { until } from '../../until.ts';
import { storeLink } from '../store-link.ts';

const passed = (results: readonly RateLimitResult[]) =>
  results.filter(({ failure }) => failure === null).length;
const together = (limits: readonly RateLimit[], calls: number, key = 'key_1') =>
  Promise.all(
    Array.from({ length: calls }, (_, i) => limits[i % limits.length]?.consume(key)),
  ).then((all) => all.filter((one) => one !== undefined));

t.test('a limit is exact for all processes of a store', async (t) => {
  const { db } = await storeLink(t);
  const limits = [new RateLimit(db, 20), new RateLimit(db, 20)];
  await limits[0]?.ensureIndexes();
  const all = await together(limits, 60);
  t.equal(passed(all), 20);
  t.equal(passed(await together(limits, 5, 'key_2')), 5, 'another key has its own limit');

  const left = all.map(({ headers }) => Number(new Map(headers).get('ratelimit-remaining')));
  t.same(
    left.sort((a, b) => a - b),
    [...Array(40).fill(0), ...Array(20).keys()],
  );
  const refused = all.find(({ failure }) => failure !== null);
  t.equal(refused?.failure?.code, 'rate_limited');
  const headers = Object.fromEntries(refused?.headers ?? []);
  t.equal(headers['ratelimit-limit'], '20');
  const wait = Number(headers['retry-after']);
  t.ok(wait >= 1 && wait <= 60, `Retry-After ${wait}`);
  t.equal(headers['ratelimit-reset'], headers['retry-after']);
});

t.test('an expired window is replaced even if it is not deleted', async (t) => {
  const { db } = await storeLink(t);
  const limits = [new RateLimit(db, 20), new RateLimit(db, 20)];
  // Without the TTL index the expired document remains.
  t.equal(passed(await together(limits, 21)), 20);
  await db.collection('rateWindows').updateMany({}, { $set: { expire: new Date(Date.now() - 1) } });
  t.equal(passed(await together(limits, 60)), 20);
});

t.test('calls fail during an outage of the store and are counted after it', async (t) => {
  const link = await storeLink(t);
  const limit = new RateLimit(link.db, 20);
  await limit.ensureIndexes();
  await link.cut();
  const failed = await limit.consume('key_1').then(
    () => null,
    (error) => error,
  );
  t.ok(isOutage(failed), 'an outage');
  await link.mend();
  const after = await until('the store answers', () =>
    limit.consume('key_1').catch(() => undefined),
  );
  t.equal(after.failure, null, 'the store counts again');
});
