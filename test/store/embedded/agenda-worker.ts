// Works on an Agenda queue until its input ends, and prints the number of each job that it runs.
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';

const [url = '', databaseName = ''] = process.argv.slice(2);

async function work(): Promise<void> {
  const client = await MongoClient.connect(url);
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: client.db(databaseName) }),
    processEvery: 100,
    maxConcurrency: 10,
    defaultConcurrency: 10,
  });
  agenda.define<{ n: number }>('count', async ({ attrs }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.stdout.write(`${attrs.data.n}\n`);
  });
  await agenda.start();
  process.stdin.resume();
  process.stdin.once('end', async () => {
    await agenda.stop();
    await client.close();
    // Agenda leaves a timer for every job that it ran.
    process.exit();
  });
}

void work();
