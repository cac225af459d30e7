import { createServer } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createLogger, isOnTerminal } from '../contract/log.ts';
import { settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { ignoredVariables } from '../contract/settings/load.ts';
import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import { cannotListen } from '../contract/start-failure.ts';
import type { FrontEndStats, MachineStats, ToPrimary } from './cluster/channel.ts';
import { RenderCoalescer } from './cluster/coalescer.ts';
import { DiskCacheIndex } from './cluster/disk-cache-index.ts';
import { DiskCacheWrites } from './cluster/disk-cache-writes.ts';
import { DiskSpace } from './cluster/disk-space.ts';
import { frontEndArguments, frontEndEnvironment } from './cluster/environment.ts';
import { KnownProjects } from './cluster/known-projects.ts';
import { KnownProjectsFile } from './cluster/known-projects-file.ts';
import { Supervisor } from './cluster/supervisor.ts';
import { Greeting } from './greeting.ts';
import type { ChosenServer } from './http/choose-server.ts';
import { PrimaryMetrics } from './primary-metrics.ts';
import { bytesOfProject, knownBytes } from './project-cache.ts';
import { endsWithTerminal, Shutdown } from './shutdown.ts';
import { startOperations } from './telemetry/operations.ts';

/** The primary: owns the store and the disk cache's index, and supervises the front ends. */

const statsEveryMs = 1_000;

const settings = settingsFromCommandLine(
  new Command('image-delivery-server').description(
    'Delivers transformed images, without the worker that prewarms them.',
  ),
  ['port', 'opsPort'],
);
const log = createLogger(settings, 'primary');
const ignored = ignoredVariables(process.env);
if (ignored.length > 0)
  log.warn({ variables: ignored }, 'variables that are no settings are ignored');

const onTerminal = isOnTerminal(settings);
const shutdown = new Shutdown(log, onTerminal || settings.logFormat === 'text');
// SIGHUP must not end the process before there are front ends to replace.
process.on('SIGHUP', () => {});

/** The front ends share the port, so they would not notice that another program uses it. */
function checkPortIsFree({ host, port }: Settings): Promise<void> {
  return new Promise((free, taken) => {
    const probe = createServer().once('error', taken);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => free()));
  });
}

await checkPortIsFree(settings).catch((error: unknown) =>
  shutdown.fail(cannotListen('SERVICE_PORT', settings, error)),
);

const known = new KnownProjects(knownBytes, bytesOfProject);
const diskCacheIndex = new DiskCacheIndex(
  resolve(join(settings.dataDir, 'cache')),
  settings.diskCacheBytes,
  (error) => log.error({ err: error }, 'the disk cache could not delete a file'),
);
const diskCacheWrites = new DiskCacheWrites(diskCacheIndex);
const diskSpace = new DiskSpace({
  folder: settings.dataDir,
  reserveBytes: settings.diskReserveBytes,
  index: diskCacheIndex,
  log,
});

const here = fileURLToPath(import.meta.url);
const supervisor = new Supervisor({
  entry: join(here, '..', `process${extname(here)}`),
  processes: settings.processes,
  execArgv: frontEndArguments,
  environment: frontEndEnvironment(settings),
  log,
  stalledAfterMs: 2 * settings.transformTimeoutMs,
});
const metrics = new PrimaryMetrics({
  supervisor,
  processes: settings.processes,
  disk: diskCacheIndex,
  diskFull: () => diskSpace.scarce,
});
/** Of the front end that listened last. */
let httpServer: ChosenServer | null = null;
const stats = new Map<number, FrontEndStats>();
const coalescer = new RenderCoalescer((frontEnd, reply) => supervisor.send(frontEnd, reply));

/** The front ends that the store has answered. */
const reached = new Set<number>();
let allReached = (): void => {};
const storeReached = new Promise<void>((resolve) => {
  allReached = resolve;
});
let storePrepared = false;
let welcome = (_url: string): void => {};
/** The URL of the store, when the front ends may use it and the folder of the disk cache. */
const opened = new Promise<string>((resolve) => {
  welcome = resolve;
});

// The front ends load their modules while this process opens the store.
const listening = supervisor
  .start({
    onMessage: receive,
    onEnd: (frontEnd) => {
      stats.delete(frontEnd);
      metrics.end(frontEnd);
      reached.delete(frontEnd);
      coalescer.forget(frontEnd);
      diskCacheWrites.ended(frontEnd);
    },
    onGiveUp: (reason) => void shutdown.fail(`The front end is not started again: ${reason}.`),
  })
  .catch(async (error) => {
    // An embedded store that is being created must not be interrupted.
    await opened;
    return shutdown.fail(`The service could not start: ${error.message}.`);
  });
const stopFrontEnds = () => supervisor.stop();
// For an end before the store is open.
shutdown.add(stopFrontEnds);

const { ownStore, prepareStore } = await import('./own-store.ts');
const store = await ownStore(settings, log, shutdown);
const knownFile = await restoreKnownProjects(settings);
shutdown.add(async () => knownFile?.close());

/** The embedded store starts with this process, so only another one can be unavailable then. */
async function restoreKnownProjects(settings: Settings): Promise<KnownProjectsFile | null> {
  if (settings.mongodbUrl === null) return null;
  const file = new KnownProjectsFile({
    path: resolve(join(settings.dataDir, 'known-projects')),
    storeUrl: settings.mongodbUrl,
    known,
    onError: (error) => log.error({ err: error }, 'the known projects could not be written'),
  });
  if (settings.staleProjectsSeconds === 0) {
    await file.remove();
    return null;
  }
  const knowledge = await file.read();
  if (knowledge !== null) {
    known.restore(knowledge);
    log.info({ projects: knowledge.projects.length }, 'the known projects are read');
  }
  return file;
}

if (settings.diskCacheBytes > 0) {
  await diskCacheIndex
    .prepare()
    .catch((error) => log.error({ err: error }, 'the disk cache does not work'));
}
shutdown.add(() => diskCacheIndex.close());
// Before what they use is closed.
shutdown.add(stopFrontEnds);
diskSpace.start();
if (!endsWithTerminal()) process.on('SIGHUP', () => void supervisor.roll());
metrics.start();
await startOperations(settings, log, () => metrics.text()).catch((error: unknown) =>
  shutdown.fail(
    cannotListen(
      'SERVICE_OPS_PORT',
      { host: settings.opsHost, port: settings.opsPort ?? defaultOpsPort },
      error,
    ),
  ),
);

welcome(store.url);

function receive(frontEnd: number, message: ToPrimary): void {
  switch (message.type) {
    case 'stats':
      stats.set(frontEnd, message.stats);
      metrics.report(frontEnd, message.metrics, message.projects);
      return;
    case 'started':
      void opened.then((storeUrl) =>
        supervisor.send(frontEnd, {
          type: 'welcome',
          storeUrl,
          storePrepared,
          knowledge: known.knowledge,
        }),
      );
      return;
    case 'store-reached':
      reached.add(frontEnd);
      if (reached.size >= settings.processes) allReached();
      return;
    case 'project-known':
    case 'project-forgotten':
      if (!known.receive(message)) return;
      knownFile?.changed();
      if (message.type === 'project-known') supervisor.broadcast(message, frontEnd);
      return;
    case 'projects-confirmed':
      known.receive(message);
      knownFile?.confirmed();
      return;
    case 'disk-cache-write':
      diskCacheWrites.begun(frontEnd, message.name, message.key);
      return;
    case 'disk-cache-changes':
      for (const [key, bytes] of message.stored) diskCacheIndex.stored(key, bytes);
      for (const key of message.used) diskCacheIndex.used(key);
      for (const key of message.removed) void diskCacheIndex.removed(key);
      diskCacheWrites.settled(frontEnd, message.written);
      return;
    case 'ready':
      httpServer = message.httpServer;
      return;
    case 'cannot-start':
      return;
    default:
      return coalescer.receive(frontEnd, message);
  }
}

async function scanDiskCache(): Promise<void> {
  if (settings.diskCacheBytes === 0) return;
  await diskCacheIndex
    .scan()
    .catch((error) => log.error({ err: error }, 'the disk cache was not scanned'));
  log.info(
    { files: diskCacheIndex.count, bytes: diskCacheIndex.bytes },
    'the disk cache is scanned',
  );
}

function machineStats(): MachineStats {
  const frontEnds: Record<number, FrontEndStats> = {};
  for (const [frontEnd, its] of stats) frontEnds[supervisor.pidOf(frontEnd) ?? 0] = its;
  const { bytes: diskBytes, maxBytes: diskMaxBytes } = diskCacheIndex;
  return { frontEnds, diskBytes, diskMaxBytes, diskFull: diskSpace.scarce };
}

setInterval(
  () => supervisor.broadcast({ type: 'machine-stats', stats: machineStats() }),
  statsEveryMs,
);
void listening.then(scanDiskCache);
// The front ends listen before the store is available: for health, and for what they know.
const greeting = new Greeting(settings, await prepareStore(store, settings, log, shutdown));
shutdown.add(async () => greeting.printKey());
if (!onTerminal) greeting.printKey();
storePrepared = true;
supervisor.broadcast({ type: 'store-prepared' });
await Promise.all([listening, storeReached]);
log.info({ url: settings.baseUrl, processes: settings.processes }, 'the service is ready');
// To `npm start`, which restarts what was ready, and ends when a first start fails.
if (process.connected) process.send?.('ready', undefined, undefined, () => {});
if (onTerminal) greeting.print(httpServer);
