// Claims documents until none is left, and prints the `_id` of each.
import { MongoClient } from 'mongodb';

const [url = '', databaseName = ''] = process.argv.slice(2);

async function claimAll(): Promise<void> {
  const client = await MongoClient.connect(url);
  const tasks = client.db(databaseName).collection<{ _id: number; owner: number | null }>('tasks');
  const claim = async () => {
    for (;;) {
      const change = { $set: { owner: process.pid } };
      const task = await tasks.findOneAndUpdate({ owner: null }, change, { sort: { rank: 1 } });
      if (task === null) return;
      process.stdout.write(`${task._id}\n`);
    }
  };
  await Promise.all([claim(), claim(), claim(), claim()]);
  await client.close();
}

void claimAll();
