import t from 'tap';
import { RateLimit } from '../../../server/control/rate-limit.ts';
import { testDatabase } from '../../store/connection.ts';

t.test('replaces an expired window even if it still exists', async (t) => {
  const { db } = await testDatabase(t);
  const limits = [new RateLimit(db, 20), new RateLimit(db, 20)];
  /** Sends concurrent calls with the same key, and resolves with the number of accepted calls. */
  const allowed = async (calls: number) => {
    const results = await Promise.all(
      Array.from({ length: calls }, (_, i) => limits[i % 2]?.consume('key_1')),
    );
    return results.filter((result) => result?.failure === null).length;
  };
  // The expired document stays if there is no TTL index.
  t.equal(await allowed(21), 20);
  await db.collection('rateWindows').updateMany({}, { $set: { expire: new Date(Date.now() - 1) } });
  t.equal(await allowed(60), 20);
});

t.test('ends a window from a fast clock when the clock is right again', async (t) => {
  const { db } = await testDatabase(t);
  const limit = new RateLimit(db, 2);
  const inDays = new Date(Date.now() + 3 * 24 * 60 * 60 * 1_000);
  for (const before of [1, 3]) {
    for (let call = 0; call < before; call++) await limit.consume('key_1');
    await db.collection('rateWindows').updateMany({}, { $set: { expire: inDays } });
    const { headers, failure } = await limit.consume('key_1');
    t.equal(failure, null, `after ${before} calls`);
    const { 'ratelimit-remaining': remaining, 'ratelimit-reset': reset } =
      Object.fromEntries(headers);
    t.equal(remaining, '1');
    t.ok(Number(reset) <= 60, `${reset} s`);
  }
});
