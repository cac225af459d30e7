import { Command } from 'commander';
import { createLogger } from '../contract/log.ts';
import { settingsExample } from '../contract/settings/document.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import { logOutages, retryDuringOutages } from '../store/connection.ts';
import { awaitStore, type Store } from '../store/open.ts';
import { StoreUrlInvalid } from '../store/outage.ts';
import { Consumer } from './consumer.ts';
import { WorkerMetrics } from './metrics.ts';
import { operationsServer } from './operations.ts';

/** The prewarm worker: a process of its own, with its operations server. */

new Command('image-delivery-worker')
  .description('Prewarms images. Configured by environment variables, or a .env file:')
  .addHelpText('after', () => `\n${settingsExample()}`)
  .allowExcessArguments(false)
  .parse();

/** How long jobs under way may take to come to a point where they can be left. */
const drainWithinMs = 10_000;

const settings = settingsOrExit();
const log = createLogger(settings, 'worker');

let store: Store | null = null;
let consumer: Consumer | null = null;
const stopping = new AbortController();

const metrics = new WorkerMetrics(() => consumer?.queue ?? null);
const server = operationsServer({
  settings,
  log,
  metrics,
  consumer: () => consumer,
  pingStore: (withinMs) => store?.ping(withinMs) ?? Promise.reject(new Error('no store yet')),
  draining: () => stopping.signal.aborted,
});

async function stop(exitCode: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  log.info('stopping');
  await consumer?.stop(drainWithinMs).catch((error) => log.warn({ err: error }, 'not drained'));
  await server.close();
  await store?.close().catch(() => {});
  log.info('stopped');
  // Agenda leaves timers behind.
  process.exit(exitCode);
}

process.on('SIGTERM', () => void stop(0));
// Whoever started this as a part of the whole is gone.
process.on('disconnect', () => void stop(0));
if (process.connected === false) void stop(0);
process.on('SIGINT', () => {
  if (stopping.signal.aborted) process.exit(130);
  void stop(0);
});
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'this process ends because of an error that nobody caught');
  process.exit(1);
});

try {
  await server.listen({ host: settings.workerHost, port: settings.workerPort });
} catch (error) {
  const code = (error as NodeJS.ErrnoException).code;
  process.stderr.write(
    `SERVICE_WORKER_PORT ${settings.workerPort} on ${settings.workerHost} cannot be used: ${code}.\n`,
  );
  process.exit(1);
}
log.info({ port: settings.workerPort }, 'the operations server listens');

try {
  const { signal } = stopping;
  const onOutage = logOutages(log);
  store = await awaitStore(settings, signal, onOutage);
  const { baseUrl, workerConcurrency: concurrency } = settings;
  const starting = new Consumer({ store, baseUrl, concurrency, log, metrics });
  consumer = starting;
  // The store may go away again before that is done.
  await retryDuringOutages(() => starting.start(), { signal, onOutage });
  log.info('the worker is ready');
} catch (error) {
  if (!stopping.signal.aborted) {
    log.fatal({ err: error }, 'the worker could not start');
    if (error instanceof StoreUrlInvalid) process.stderr.write(`${error.message}\n`);
    await stop(1);
  }
}
