import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Test } from 'tap';
import { serializers, withoutSecrets } from '../../contract/log.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import type { FrontEndChannel, StoreOpened } from '../../server/cluster/channel.ts';
import { createFrontEnd } from '../../server/front-end.ts';
import { joinStore, type Store } from '../../store/open.ts';
import { embeddedUrl } from '../store/connection.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { startTestOrigin, type TestOrigin } from './origin.ts';
import type { LogLine } from './program.ts';
import { countImages, freePort } from './service.ts';

export interface TestFrontEnd {
  readonly url: string;
  readonly port: number;
  readonly origin: TestOrigin;
  readonly store: Store;
  /** Warnings and errors so far, and other lines with SERVICE_LOG_LEVEL. */
  readonly log: readonly LogLine[];
  /** Id of a project with 127.0.0.1 and localhost on its allowlist. */
  readonly project: string;
  /** Creates a project with these hosts on its allowlist and returns its id. */
  createProject(...hosts: string[]): Promise<string>;
  /** Returns the path and query of an image from the origin. */
  image(path: string, query?: string): string;
  /** Returns the pid of this process, like a service with one front end. */
  frontEnds(): number[];
}

/**
 * Starts a front end in this process with no disk cache, for tests of responses. Tests of processes
 * use `startService`.
 */
export async function startFrontEnd(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestFrontEnd> {
  const origin = await startTestOrigin(t);
  const port = await freePort();
  const dataDir = await mkdtemp(join(temporaryRoot, 'image-delivery-'));
  const storeUrl = process.env['SERVICE_MONGODB_URL'] || (await embeddedUrl());
  const settings = loadSettings({
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_MONGODB_URL: storeUrl,
    SERVICE_PROCESSES: '1',
    SERVICE_DISK_CACHE_BYTES: '0',
    // Slow work on a busy machine is not an error here.
    SERVICE_SOURCE_TIMEOUT_MS: '100000',
    SERVICE_TRANSFORM_TIMEOUT_MS: '100000',
    SERVICE_PRIVATE_SOURCES: '127.0.0.0/8:*,localhost:*',
    ...environment,
  });
  const store = await joinStore(settings);
  const { _id: orgId } = await store.organisations.default();
  if (settings.rootApiKey !== null) {
    await store.keys.storeEnvironmentKey(settings.rootApiKey, orgId);
  }
  const createProject = async (...allowedOrigins: string[]) => {
    const fields = { orgId, name: 'Test', origin: 'http://127.0.0.1/', allowedOrigins };
    return (await store.projects.create(fields))._id;
  };
  const project = await createProject('127.0.0.1', 'localhost');
  const storeOpened: StoreOpened = {
    type: 'store-opened',
    storeUrl,
    knownProjects: { confirmedAt: 0, projects: [] },
  };
  let reason: string | null = null;
  const channel: FrontEndChannel = {
    send: (message) => {
      if (message.type === 'cannot-start') reason = message.reason;
    },
    start: async () => storeOpened,
    receive: (receiver) => {
      receiver(storeOpened);
      receiver({ type: 'store-prepared' });
    },
  };
  const log: LogLine[] = [];
  const level = environment['SERVICE_LOG_LEVEL'] ?? 'warn';
  const write = (line: string) => void log.push(JSON.parse(withoutSecrets(line)));
  const logger = pino({ level, serializers }, { write });
  const frontEnd = await createFrontEnd(settings, channel, logger);
  await frontEnd.start();
  if (reason !== null) throw new Error(reason);
  t.teardown(async () => {
    await frontEnd.drain(0);
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    origin,
    store,
    log,
    project,
    createProject,
    image: countImages(origin, project),
    frontEnds: () => [process.pid],
  };
}
