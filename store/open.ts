import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Settings } from '../contract/settings/table.ts';
import { ActivityRecords } from './activity.ts';
import { type ClientOptions, createClient, MongoConnection, type OnOutage } from './connection.ts';
import { runningStoreUrl } from './embedded/lock.ts';
import { type EmbeddedStore, hasEmbeddedStore, startEmbeddedStore } from './embedded/server.ts';
import { Keys } from './keys.ts';
import { Organisations } from './organisations.ts';
import { StoreUnavailable, withTimeout } from './outage.ts';
import { Prewarms } from './prewarms.ts';
import { Projects } from './projects.ts';
import { PurgeRepository } from './purges.ts';
import { UsageRecords } from './usage.ts';

/** While no process owns the embedded store. */
const pollEveryMs = 500;

export type Store = ReturnType<typeof connectStore>;

/**
 * Connects to a store's URL in the background, with retries. Operations fail within seconds until
 * the connection succeeds.
 *
 * @param embedded the store at this URL, if it runs in this process
 * @throws StoreUrlInvalid
 */
export function connectStore(
  url: string,
  onOutage: OnOutage,
  options?: ClientOptions,
  embedded: EmbeddedStore | null = null,
) {
  const { client, db } = createClient(url, options);
  const connection = new MongoConnection(client, onOutage);
  return {
    /** URL for other processes of this deployment; contains the credentials. */
    url,
    db,
    /** Whether the embedded store runs in this process: no service uses it. */
    isInProcess: embedded !== null,
    projects: new Projects(db),
    organisations: new Organisations(db),
    keys: new Keys(db),
    prewarms: new Prewarms(db),
    purges: new PurgeRepository(db),
    usage: new UsageRecords(db),
    activity: new ActivityRecords(db),
    /** Resolves when the store has responded for the first time. Rejects on abort and on close. */
    established: (signal?: AbortSignal): Promise<void> => connection.established(signal),
    /** Replaces the driver's error about a closed client by the cause of the outage. */
    explain: (error: unknown): unknown => connection.explain(error),
    /** Round trip to the server, ms. @throws StoreUnavailable after the timeout */
    async ping(timeoutMs: number): Promise<number> {
      const started = performance.now();
      await withTimeout(db.command({ ping: 1 }), timeoutMs);
      return performance.now() - started;
    },
    /** Resolves if an embedded store of this process fails; otherwise never settles. */
    failed: embedded?.failed ?? new Promise<Error>(() => {}),
    async close(): Promise<void> {
      await connection.close();
      await embedded?.close();
    },
  } as const;
}

type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir'>;

/** Whether the configured store exists; true for a MongoDB, which creates databases by itself. */
export const storeExists = (settings: StoreSettings): boolean =>
  settings.mongodbUrl !== null || hasEmbeddedStore(settings.dataDir);

/**
 * Opens the configured store; without a MongoDB URL, starts the embedded store in the data folder.
 * The returned store can still be connecting (see `established`).
 * @param onBackupFailure runs with the reason if the embedded store could not be copied
 * @throws DataDirLockedError if another process owns the embedded store's folder
 * @throws DataFileDamaged
 * @throws StoreUrlInvalid
 */
export async function openStore(
  settings: StoreSettings,
  onOutage: OnOutage,
  onBackupFailure: (reason: string) => void = () => {},
): Promise<Store> {
  if (settings.mongodbUrl !== null) return connectStore(settings.mongodbUrl, onOutage);
  const embedded = await startEmbeddedStore(settings.dataDir, { onBackupFailure });
  return connectStore(embedded.url, onOutage, undefined, embedded);
}

/**
 * Opens the configured store for a command, without retries: connects to the embedded store of a
 * running service, or starts it when no service runs.
 * @throws StoreUnavailable
 * @throws StoreUrlInvalid
 */
export async function joinStore(settings: StoreSettings): Promise<Store> {
  const connect = (url: string) => withoutRetry(async (onOutage) => connectStore(url, onOutage));
  if (settings.mongodbUrl !== null) return connect(settings.mongodbUrl);
  const running = await runningStoreUrl(settings.dataDir);
  if (running !== null) return connect(running);
  return withoutRetry((onOutage) => openStore(settings, onOutage));
}

/**
 * Opens a store for exclusive use: locks the embedded store against services.
 * @throws DataDirLockedError while a service uses the embedded store
 * @throws StoreUnavailable
 * @throws StoreUrlInvalid
 */
export const openUnusedStore = (settings: StoreSettings): Promise<Store> =>
  withoutRetry((onOutage) => openStore(settings, onOutage));

/** Closes the store and rejects when the first attempt to connect fails. */
async function withoutRetry(open: (onOutage: OnOutage) => Promise<Store>): Promise<Store> {
  const failed = new AbortController();
  const store = await open((cause) => {
    if (cause !== null) failed.abort(new StoreUnavailable(cause));
  });
  return established(store, failed.signal);
}

/** Returns the store after its first response; closes it if the signal aborts. */
async function established(store: Store, signal: AbortSignal): Promise<Store> {
  try {
    await store.established(signal);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the configured store in a process that never starts the embedded store: waits until another
 * process has started it, and for the first response. Rejects with the signal's reason.
 * @throws StoreUrlInvalid
 */
export async function awaitStore(
  settings: StoreSettings,
  signal: AbortSignal,
  onOutage: OnOutage,
): Promise<Store> {
  for (;;) {
    const url = settings.mongodbUrl ?? (await runningStoreUrl(settings.dataDir));
    if (url !== null) return established(connectStore(url, onOutage), signal);
    await sleep(pollEveryMs, undefined, { signal });
  }
}

/** Idempotent, and safe to run in several processes at once. */
export async function ensureIndexes(store: Store): Promise<void> {
  const { projects, keys, prewarms, purges, usage, activity } = store;
  const parts = [projects, keys, prewarms, purges, usage, activity];
  await Promise.all(parts.map((part) => part.ensureIndexes()));
}

/** Describes the limits of the store's server for the log; returns null for MongoDB. */
export async function serverLimits(db: Db): Promise<string | null> {
  // Treats a server that refuses the command to this user as MongoDB.
  const info = await db.command({ buildInfo: 1 }).catch(() => null);
  if (info?.['embedded'] === true) {
    return 'the embedded store serves this machine only; set SERVICE_MONGODB_URL for several machines';
  }
  const ferretdb: unknown = info?.['ferretdb']?.version;
  if (ferretdb === undefined) return null;
  return `FerretDB ${ferretdb}: concurrent writes of one document wait for each other, and those that wait for more than 1.5 s get 503`;
}
