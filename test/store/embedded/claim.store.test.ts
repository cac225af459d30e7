import t from 'tap';
import { testDatabase } from '../connection.ts';
import { remainingLines, spawnScript } from './children.ts';
import { insertAll } from './collection.ts';

t.test('two processes claim each document exactly once', async (t) => {
  const { db, url, databaseName } = await testDatabase(t);
  const count = 300;
  const tasks = db.collection<{ _id: number; owner: number | null; rank: number }>('tasks');
  await insertAll(
    tasks,
    Array.from({ length: count }, (_, _id) => ({ _id, owner: null, rank: count - _id })),
  );
  const children = [1, 2].map(() => spawnScript(t, 'claimer', [url, databaseName]));
  const claimed = (await Promise.all(children.map(remainingLines))).map((ids) => ids.map(Number));
  t.same(
    claimed.flat().sort((a, b) => a - b),
    Array.from({ length: count }, (_, i) => i),
  );
  for (const [i, ids] of claimed.entries()) {
    const owner = children[i]?.process.pid ?? 0;
    t.equal(await tasks.countDocuments({ owner }), ids.length);
  }
});
