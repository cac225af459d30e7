import { createServer } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createLogger } from '../contract/log.ts';
import { settingsExample } from '../contract/settings/document.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import type { Settings } from '../contract/settings/table.ts';
import { CacheKeeper } from './cluster/disk-cache-index.ts';
import type { Fleet, FrontEndFigures, ToPrimary } from './cluster/channel.ts';
import { frontEndEnvironment } from './cluster/environment.ts';
import { FlightControl } from './cluster/coalescer.ts';
import { Supervisor } from './cluster/supervisor.ts';
import { ownStore } from './own-store.ts';
import { Shutdown } from './shutdown.ts';

/** The primary: owns the store and the disk cache's index, and supervises the front ends. */

const fleetEveryMs = 1_000;

new Command('image-delivery')
  .description('Delivers transformed images. Configured by environment variables, or a .env file:')
  .addHelpText('after', () => `\n${settingsExample()}`)
  .allowExcessArguments(false)
  .parse();

const settings = settingsOrExit();
const log = createLogger(settings, 'primary');

const shutdown = new Shutdown(log);
// Before there are front ends, none can be renewed.
process.on('SIGHUP', () => {});

/** The front ends share the port, so none of them would notice that a stranger has it. */
function checkPortIsFree({ host, port }: Settings): Promise<void> {
  return new Promise((free, taken) => {
    const probe = createServer().once('error', taken);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => free()));
  });
}

await checkPortIsFree(settings).catch((error: unknown) =>
  shutdown.giveUp(
    `SERVICE_PORT ${settings.port} on ${settings.host} cannot be used: ${(error as NodeJS.ErrnoException).code}.`,
  ),
);
const store = await ownStore(settings, log, shutdown);

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
shutdown.add(() => keeper.close());

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

shutdown.add(() => supervisor.stop());
process.on('SIGHUP', () => void supervisor.roll());

await supervisor
  .start()
  .catch((error) => shutdown.giveUp(`The service could not start: ${error.message}.`));
setInterval(() => supervisor.broadcast({ type: 'fleet', fleet: fleet() }), fleetEveryMs);
log.info({ url: settings.baseUrl, processes: settings.processes }, 'the service is ready');

if (settings.diskCacheBytes > 0) {
  await keeper.scan().catch((error) => log.error({ err: error }, 'the disk cache was not scanned'));
  log.info({ files: keeper.count, bytes: keeper.bytes }, 'the disk cache is known');
}
