import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import t from 'tap';
import { testDatabase } from '../connection.ts';

t.test('of many concurrent calls exactly the allowed ones pass', async (t) => {
  const { client, databaseName } = await testDatabase(t);
  const limiter = new RateLimiterMongo({
    storeClient: client,
    dbName: databaseName,
    keyPrefix: 'limit',
    points: 20,
    duration: 60,
    disableIndexesCreation: true,
  });
  await limiter.createIndexes();
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, () => limiter.consume('somebody')),
  );
  const refused = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  t.equal(results.length - refused.length, 20);
  t.ok(refused.every((reason) => reason instanceof RateLimiterRes));
  t.match(await limiter.get('somebody'), { consumedPoints: 100, remainingPoints: 0 });
  await t.resolves(limiter.consume('somebody else'));
});

t.test('a window that is over begins anew, swept or not', async (t) => {
  const { client, databaseName, db } = await testDatabase(t);
  const limiter = new RateLimiterMongo({
    storeClient: client,
    dbName: databaseName,
    keyPrefix: 'limit',
    points: 1,
    duration: 60,
    disableIndexesCreation: true,
  });
  // Without the TTL index, so that the old window's document is still there.
  await db.collection('limit').createIndex({ key: 1 }, { unique: true });
  await limiter.consume('somebody');
  await t.rejects(limiter.consume('somebody'));
  await db.collection('limit').updateMany({}, { $set: { expire: new Date(Date.now() - 1) } });
  t.match(await limiter.consume('somebody'), { consumedPoints: 1 });
});
