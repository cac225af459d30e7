import { mkdir } from 'node:fs/promises';
import type { Logger } from '../contract/log.ts';
import type { Settings } from '../contract/settings/table.ts';
import { logOutages, retryDuringOutages } from '../store/connection.ts';
import { FolderHeld } from '../store/embedded/lock.ts';
import { JobQueue } from '../store/jobs.ts';
import { ensureIndexes, openStore, type Store } from '../store/open.ts';
import { outageInWords, StoreUrlInvalid } from '../store/outage.ts';
import { RateLimit } from './control/rate-limit.ts';
import type { Shutdown } from './shutdown.ts';

/**
 * Opens the store as its owner and prepares it for the front ends. A store that is away is waited
 * for; what no waiting mends ends the process.
 */
export async function ownStore(
  settings: Settings,
  log: Logger,
  shutdown: Shutdown,
): Promise<Store> {
  const onOutage = tellOutages(log);
  const store = await open(settings, onOutage).catch((error) => {
    if (error instanceof FolderHeld) {
      return shutdown.giveUp(
        `The data folder ${settings.dataDir} belongs to process ${error.pid}, which runs.`,
      );
    }
    if (error instanceof StoreUrlInvalid) return shutdown.giveUp(error.message);
    return shutdown.giveUp('The store could not be opened.', error);
  });
  shutdown.add(() => store.close());
  store.failed.then((error) => {
    log.fatal({ err: error }, 'the embedded store died');
    return shutdown.stop(1);
  });
  try {
    await store.established(shutdown.begun);
    // It may go away again before it is prepared, as in an election.
    await retryDuringOutages(() => prepare(store, settings), { signal: shutdown.begun, onOutage });
  } catch (error) {
    await shutdown.giveUp(`The store cannot be used: ${outageInWords(error)}.`, error);
  }
  return store;
}

/** In the log, and once in a sentence for who watches the start. */
function tellOutages(log: Logger): (cause: string | null) => void {
  const logged = logOutages(log);
  let told = false;
  return (cause) => {
    logged(cause);
    if (cause === null || told) return;
    told = true;
    process.stderr.write(`The store is away: ${cause}. The service starts when it answers.\n`);
  };
}

async function open(settings: Settings, onOutage: (cause: string | null) => void): Promise<Store> {
  await mkdir(settings.dataDir, { recursive: true });
  return openStore(settings, onOutage);
}

/** Safe to repeat. */
async function prepare(store: Store, settings: Settings): Promise<void> {
  await ensureIndexes(store);
  await new JobQueue(store.db).ensureIndexes();
  await new RateLimit(store.db, settings.apiRateLimit).ensureIndexes();
  await ensureRootKey(store, settings.rootApiKey);
}

/** There is always a key to begin with: the one that the settings name, or a new one, shown once. */
async function ensureRootKey(
  { keys, organisations }: Store,
  rootApiKey: string | null,
): Promise<void> {
  const { _id: orgId } = await organisations.default();
  if (rootApiKey !== null) {
    await keys.adoptFromEnvironment(rootApiKey, orgId);
  } else if (await keys.isEmpty()) {
    const { secret } = await keys.issue({
      name: 'root',
      orgId,
      projectId: null,
      allOrganisations: true,
      access: 'write',
    });
    process.stdout.write(
      `\nA first API key was made, for all projects. It is shown only now:\n\n  ${secret}\n\n`,
    );
  }
}
