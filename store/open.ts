import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Settings } from '../contract/settings/table.ts';
import { clientOf } from './client.ts';
import { Connection, type OnOutage } from './connection.ts';
import { FolderHeld, runningStoreUrl } from './embedded/lock.ts';
import { type EmbeddedStore, startEmbeddedStore } from './embedded/server.ts';
import { Keys } from './keys.ts';
import { Organisations } from './organisations.ts';
import { StoreAway } from './outage.ts';
import { Projects } from './projects.ts';

/** How often to look whether the owner of an embedded store has come. */
const lookEveryMs = 500;

export interface Store {
  /** Where others of this deployment connect to; holds the credentials. */
  readonly url: string;
  readonly projects: Projects;
  readonly organisations: Organisations;
  readonly keys: Keys;
  readonly db: Db;
  /** Resolves when the store has answered for the first time; rejects when that is given up. */
  established(signal?: AbortSignal): Promise<void>;
  /** What an operation on the store failed with, with the reason while it has not yet answered. */
  explain(error: unknown): unknown;
  /** Round trip to the server in ms. Rejects when it does not answer in time. */
  ping(timeoutMs: number): Promise<number>;
  /** Rejects nothing and resolves only when an embedded store that this process owns dies. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/**
 * Connects to a store by its URL, in the background and for as long as that takes. Operations that
 * are asked for meanwhile fail within seconds.
 * @throws StoreUrlInvalid
 */
export function connectStore(url: string, onOutage: OnOutage): Store {
  return assemble(url, null, onOutage);
}

type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir'>;

const embeddedFolder = (settings: StoreSettings): string => resolve(settings.dataDir);

/**
 * The store that the settings name, as its owner: without a MongoDB URL the embedded store is
 * started in the data folder. It may have to be waited for (`established`).
 * @throws FolderHeld when another process owns the embedded store's folder
 * @throws StoreUrlInvalid
 */
export async function openStore(settings: StoreSettings, onOutage: OnOutage): Promise<Store> {
  if (settings.mongodbUrl !== null) return assemble(settings.mongodbUrl, null, onOutage);
  const embedded = await startEmbeddedStore(embeddedFolder(settings));
  return assemble(embedded.url, embedded, onOutage);
}

/**
 * The store that the settings name, for a command: joins a service that runs, and owns the
 * embedded store for a moment when none does. It is there at once or not at all.
 * @throws StoreAway
 * @throws StoreUrlInvalid
 */
export async function joinStore(settings: StoreSettings): Promise<Store> {
  const connect = (url: string) => atOnce(async (onOutage) => connectStore(url, onOutage));
  if (settings.mongodbUrl !== null) return connect(settings.mongodbUrl);
  const folder = embeddedFolder(settings);
  const running = await runningStoreUrl(folder);
  if (running !== null) return connect(running);
  try {
    return await atOnce((onOutage) => openStore(settings, onOutage));
  } catch (error) {
    // A service that started between the look and the attempt.
    const started = error instanceof FolderHeld ? await runningStoreUrl(folder) : null;
    if (started === null) throw error;
    return connect(started);
  }
}

/** Gives a store up when the first attempt to connect to it fails. */
async function atOnce(open: (onOutage: OnOutage) => Promise<Store>): Promise<Store> {
  const givenUp = new AbortController();
  const store = await open((cause) => {
    if (cause !== null) givenUp.abort(new StoreAway(cause));
  });
  try {
    await store.established(givenUp.signal);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The store that the settings name, for a process that never owns it: waits until the owner of an
 * embedded store is there, and until the store answers. Rejects with the signal's reason.
 * @throws StoreUrlInvalid
 */
export async function awaitStore(
  settings: StoreSettings,
  signal: AbortSignal,
  onOutage: OnOutage,
): Promise<Store> {
  for (;;) {
    const url = settings.mongodbUrl ?? (await runningStoreUrl(embeddedFolder(settings)));
    if (url === null) {
      await sleep(lookEveryMs, undefined, { signal });
      continue;
    }
    const store = connectStore(url, onOutage);
    try {
      await store.established(signal);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }
}

/** Makes the collections' indexes; safe to repeat and for several processes at once. */
export async function ensureIndexes(store: Store): Promise<void> {
  await Promise.all([store.projects.ensureIndexes(), store.keys.ensureIndexes()]);
}

function assemble(url: string, embedded: EmbeddedStore | null, onOutage: OnOutage): Store {
  const { client, db } = clientOf(url);
  const connection = new Connection(client, onOutage);
  return {
    url,
    db,
    projects: new Projects(db),
    organisations: new Organisations(db),
    keys: new Keys(db),
    established: (signal) => connection.established(signal),
    explain: (error) => connection.explain(error),
    async ping(timeoutMs) {
      const started = performance.now();
      const late = new AbortController();
      try {
        await Promise.race([
          db.command({ ping: 1 }),
          sleep(timeoutMs, null, { signal: late.signal }).then(() => {
            throw new Error(`the store did not answer within ${timeoutMs} ms`);
          }),
        ]);
      } finally {
        late.abort();
      }
      return performance.now() - started;
    },
    failed: embedded?.failed ?? new Promise<Error>(() => {}),
    async close() {
      await connection.close();
      await embedded?.close();
    },
  };
}
