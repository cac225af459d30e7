import t from 'tap';
import { RateLimit } from '../../../server/control/rate-limit.ts';
import { testDatabase } from '../../store/connection.ts';

t.test('an expired window is replaced even if it is not deleted', async (t) => {
  const { db } = await testDatabase(t);
  const limits = [new RateLimit(db, 20), new RateLimit(db, 20)];
  /** Calls of one key at once; resolves with the number of allowed ones. */
  const allowed = async (calls: number) => {
    const results = await Promise.all(
      Array.from({ length: calls }, (_, i) => limits[i % 2]?.consume('key_1')),
    );
    return results.filter((result) => result?.failure === null).length;
  };
  // Without the TTL index the expired document remains.
  t.equal(await allowed(21), 20);
  await db.collection('rateWindows').updateMany({}, { $set: { expire: new Date(Date.now() - 1) } });
  t.equal(await allowed(60), 20);
});
