import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { FolderHeld } from '../store/embedded/lock.ts';
import { JobQueue } from '../store/jobs.ts';
import { ensureIndexes, openStore, type Store } from '../store/open.ts';
import { settingsExample } from '../store/settings/document.ts';
import { settingsOrExit } from '../store/settings/load.ts';
import type { Settings } from '../store/settings/table.ts';
import { CacheKeeper } from './cluster/cache-keeper.ts';
import type { Fleet, FrontEndFigures, ToPrimary } from './cluster/channel.ts';
import { frontEndEnvironment } from './cluster/environment.ts';
import { FlightControl } from './cluster/flights.ts';
import { Supervisor } from './cluster/supervisor.ts';
import { RateLimit } from './control/rate-limit.ts';
import { createLogger } from './log.ts';

/** The primary: owns the store and the disk cache's index, and supervises the front ends. */

const fleetEveryMs = 1_000;

new Command('image-delivery')
  .description('Delivers transformed images. Configured by environment variables, or a .env file:')
  .addHelpText('after', () => `\n${settingsExample()}`)
  .allowExcessArguments(false)
  .parse();

const settings = settingsOrExit();
const log = createLogger(settings.logLevel, 'primary');

/** Says what is wrong in one line and ends. */
function giveUp(reason: string, error?: unknown): never {
  log.fatal({ err: error }, reason);
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

/** The front ends share the port, so none of them would notice that a stranger has it. */
function checkPortIsFree({ host, port }: Settings): Promise<void> {
  return new Promise((free, taken) => {
    const probe = createServer().once('error', taken);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => free()));
  });
}

async function ownStore(): Promise<Store> {
  try {
    await mkdir(settings.dataDir, { recursive: true });
    const opened = await openStore(settings);
    await ensureIndexes(opened);
    await new JobQueue(opened.db).ensureIndexes();
    await new RateLimit(opened.db, settings.apiRateLimit, settings.processes).ensureIndexes();
    return opened;
  } catch (error) {
    if (error instanceof FolderHeld) {
      giveUp(`The data folder ${settings.dataDir} belongs to process ${error.pid}, which runs.`);
    }
    return giveUp('The store could not be opened.', error);
  }
}

/** There is always a key to begin with: the one that the settings name, or a new one, shown once. */
async function ensureRootKey({ keys, organisations }: Store): Promise<void> {
  const { _id: orgId } = await organisations.default();
  if (settings.rootApiKey !== null) {
    await keys.adoptFromEnvironment(settings.rootApiKey, orgId);
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

await checkPortIsFree(settings).catch((error: unknown) =>
  giveUp(
    `SERVICE_PORT ${settings.port} on ${settings.host} cannot be used: ${(error as NodeJS.ErrnoException).code}.`,
  ),
);
const store = await ownStore();
await ensureRootKey(store).catch((error) => giveUp('The store does not work.', error));

const keeper = new CacheKeeper(
  resolve(join(settings.dataDir, 'cache')),
  settings.diskCacheBytes,
  (error) => log.error({ err: error }, 'the disk cache could not be tidied'),
);
if (settings.diskCacheBytes > 0) {
  await keeper
    .prepare()
    .catch((error) => log.error({ err: error }, 'the disk cache does not work'));
}

const figures = new Map<number, FrontEndFigures>();
const flights = new FlightControl((frontEnd, order) => supervisor.send(frontEnd, order));

function receive(frontEnd: number, message: ToPrimary): void {
  switch (message.type) {
    case 'figures':
      figures.set(frontEnd, message.figures);
      return;
    case 'project-changed':
      return supervisor.broadcast(message, frontEnd);
    case 'disk':
      for (const [key, bytes] of message.stored) keeper.stored(key, bytes);
      for (const key of message.used) keeper.used(key);
      for (const key of message.removed) keeper.removed(key);
      return;
    case 'ready':
    case 'hopeless':
      return;
    default:
      return flights.receive(frontEnd, message);
  }
}

function fleet(): Fleet {
  const byPid: Record<number, FrontEndFigures> = {};
  for (const [frontEnd, one] of figures) byPid[supervisor.pidOf(frontEnd) ?? 0] = one;
  return { figures: byPid, diskBytes: keeper.bytes, diskMaxBytes: keeper.maxBytes };
}

const here = fileURLToPath(import.meta.url);
const supervisor = new Supervisor({
  entry: join(here, '..', `process${extname(here)}`),
  processes: settings.processes,
  environment: frontEndEnvironment(settings, store.url),
  log,
  stalledAfterMs: 2 * settings.transformTimeoutMs,
  onMessage: receive,
  onEnd: (frontEnd) => {
    figures.delete(frontEnd);
    flights.forget(frontEnd);
  },
});

let stopping = false;

async function stop(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info('stopping');
  await supervisor.stop();
  await keeper.close();
  await store.close();
  log.info('stopped');
  process.exit(exitCode);
}

process.on('SIGTERM', () => void stop(0));
// Whoever started this as a part of the whole is gone.
process.on('disconnect', () => void stop(0));
if (process.connected === false) void stop(0);
process.on('SIGINT', () => {
  // A second Ctrl-C is from somebody who does not want to wait for requests in flight.
  if (stopping) process.exit(130);
  void stop(0);
});
process.on('SIGHUP', () => void supervisor.roll());
store.failed.then((error) => {
  log.fatal({ err: error }, 'the embedded store died');
  return stop(1);
});

await supervisor.start().catch(async (error) => {
  await supervisor.stop();
  await store.close();
  giveUp(`The service could not start: ${error.message}.`);
});
setInterval(() => supervisor.broadcast({ type: 'fleet', fleet: fleet() }), fleetEveryMs);
log.info({ url: settings.baseUrl, processes: settings.processes }, 'the service is ready');

if (settings.diskCacheBytes > 0) {
  await keeper.scan().catch((error) => log.error({ err: error }, 'the disk cache was not scanned'));
  log.info({ files: keeper.count, bytes: keeper.bytes }, 'the disk cache is known');
}
