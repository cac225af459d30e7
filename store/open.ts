import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient } from 'mongodb';
import { FolderHeld, runningStoreUrl } from './embedded/lock.ts';
import { type EmbeddedStore, startEmbeddedStore } from './embedded/server.ts';
import { Keys } from './keys.ts';
import { Organisations } from './organisations.ts';
import { Projects } from './projects.ts';
import type { Settings } from './settings/table.ts';

/** The database that a URL names; the driver's own default, `test`, is nobody's wish. */
function databaseOf(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? 'image_delivery' : decodeURIComponent(named);
}

/** Long enough for a fail-over's election to be seen, short enough to answer a request. */
const answerWithinMs = 5_000;

/** How often to look whether the owner of an embedded store has come. */
const lookEveryMs = 500;

export interface Store {
  /** Where others of this deployment connect to; holds the credentials. */
  readonly url: string;
  readonly projects: Projects;
  readonly organisations: Organisations;
  readonly keys: Keys;
  readonly db: Db;
  /** Round trip to the server in ms. Rejects when it does not answer in time. */
  ping(timeoutMs: number): Promise<number>;
  /** Rejects nothing and resolves only when an embedded store that this process owns dies. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** Connects to a store by its URL. No round trip is made: the driver connects when first used. */
export function connectStore(url: string): Store {
  return assemble(url, null);
}

type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir'>;

const embeddedFolder = (settings: StoreSettings): string => resolve(settings.dataDir);

/**
 * The store that the settings name, as its owner: without a MongoDB URL the embedded store is
 * started in the data folder.
 * @throws FolderHeld when another process owns the embedded store's folder
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  if (settings.mongodbUrl !== null) return assemble(settings.mongodbUrl, null);
  const embedded = await startEmbeddedStore(embeddedFolder(settings));
  return assemble(embedded.url, embedded);
}

/**
 * The store that the settings name, for a command: joins a service that runs, and owns the
 * embedded store for a moment when none does.
 */
export async function joinStore(settings: StoreSettings): Promise<Store> {
  if (settings.mongodbUrl !== null) return assemble(settings.mongodbUrl, null);
  const folder = embeddedFolder(settings);
  const running = await runningStoreUrl(folder);
  if (running !== null) return assemble(running, null);
  try {
    return await openStore(settings);
  } catch (error) {
    // A service that started between the look and the attempt.
    const started = error instanceof FolderHeld ? await runningStoreUrl(folder) : null;
    if (started === null) throw error;
    return assemble(started, null);
  }
}

/**
 * The store that the settings name, for a process that never owns it: waits until the owner of an
 * embedded store is there. Rejects with the signal's reason.
 */
export async function awaitStore(settings: StoreSettings, signal: AbortSignal): Promise<Store> {
  for (;;) {
    const url = settings.mongodbUrl ?? (await runningStoreUrl(embeddedFolder(settings)));
    if (url !== null) return assemble(url, null);
    await sleep(lookEveryMs, undefined, { signal });
  }
}

/** Makes the collections' indexes; safe to repeat and for several processes at once. */
export async function ensureIndexes(store: Store): Promise<void> {
  await Promise.all([store.projects.ensureIndexes(), store.keys.ensureIndexes()]);
}

function assemble(url: string, embedded: EmbeddedStore | null): Store {
  const client = new MongoClient(url, {
    appName: 'image-delivery',
    serverSelectionTimeoutMS: answerWithinMs,
    connectTimeoutMS: answerWithinMs,
    // A server that accepted a connection and went silent.
    socketTimeoutMS: answerWithinMs,
    waitQueueTimeoutMS: answerWithinMs,
    maxPoolSize: 10,
    ignoreUndefined: true,
  });
  const db = client.db(databaseOf(url));
  return {
    url,
    db,
    projects: new Projects(db),
    organisations: new Organisations(db),
    keys: new Keys(db),
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
      await client.close();
      await embedded?.close();
    },
  };
}
