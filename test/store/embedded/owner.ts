// Owns an embedded store, and prints its URL, until its input ends or the test kills it.
import { DataDirLockedError } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';

const [folder = '', ending = 'close'] = process.argv.slice(2);

async function own(): Promise<void> {
  try {
    const store = await startEmbeddedStore(folder);
    process.stdout.write(`${store.url}\n`);
    process.stdin.resume();
    process.stdin.once('end', () => (ending === 'exit' ? process.exit(7) : void store.close()));
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error;
    process.stdout.write(`held by ${error.pid}\n`);
    process.exitCode = 3;
  }
}

void own();
