import { MongoClient } from 'mongodb';
import t from 'tap';
import { until } from '../../until.ts';
import { nextLine, spawnScript } from './children.ts';
import { shortFolder } from './folder.ts';

const rounds = 3;
const writerCount = 8;
const lifeMs = 500;

interface Line {
  _id: string;
  n: number;
}

/** Writes until the server is killed; stores the acknowledged writes and returns their number. */
async function write(client: MongoClient, writer: string, acknowledged: Map<string, number>) {
  const lines = client.db('crash').collection<Line>('lines');
  let n = 0;
  try {
    for (; ; n += 1) {
      const _id = `${writer}.${n % 20}`;
      await lines.updateOne({ _id }, { $set: { n } }, { upsert: true });
      acknowledged.set(_id, n);
    }
  } catch {
    // The server has been killed.
    return n;
  }
}

t.test('no acknowledged write is lost when the owner is killed', async (t) => {
  const folder = shortFolder(t);
  const acknowledged = new Map<string, number>();
  let written = 0;
  for (let round = 0; round < rounds; round += 1) {
    const owner = spawnScript(t, 'owner', [folder]);
    const options = { serverSelectionTimeoutMS: 500, retryWrites: false };
    const client = await MongoClient.connect(await nextLine(owner), options);
    const stored = await client.db('crash').collection<Line>('lines').find().toArray();
    const found = new Map(stored.map(({ _id, n }) => [_id, n]));
    const lost = [...acknowledged].filter(([_id, n]) => (found.get(_id) ?? -1) < n);
    t.same(lost, [], `after ${written} writes`);
    if (round === 0) {
      await client.db('crash').collection<Line>('lines').createIndex({ n: 1 });
    }
    const writers = Array.from({ length: writerCount }, (_, i) =>
      write(client, `${round}.${i}`, acknowledged),
    );
    await until('a write is acknowledged', () =>
      [...acknowledged.keys()].some((id) => id.startsWith(`${round}.`)),
    );
    await new Promise((resolve) => setTimeout(resolve, lifeMs));
    owner.process.kill('SIGKILL');
    const counts = await Promise.all(writers);
    await owner.exited;
    await client.close();
    const count = counts.reduce((sum, n) => sum + n, 0);
    t.ok(count > 0, 'some writes were acknowledged');
    written += count;
  }
});
