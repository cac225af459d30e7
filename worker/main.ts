import { once } from 'node:events';
import { createServer } from 'node:http';
import { createLogger } from '../contract/log.ts';
import { otlpFailure } from '../contract/otlp/environment.ts';
import { loadMetricsExport } from '../contract/otlp/load-metrics.ts';
import { version } from '../contract/package.ts';
import { newCommand, settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { listenFailureText, toListenAddresses } from '../contract/settings/listeners.ts';
import type { Settings } from '../contract/settings/table.ts';
import { Shutdown } from '../contract/shutdown.ts';
import { AddressGuard, ownAddresses } from '../pool/source/guard.ts';
import { logOutages, retryDuringOutages, watchForOutages } from '../store/connection.ts';
import { awaitStore, type Store } from '../store/open.ts';
import { openErrorText } from '../store/open-error.ts';
import { Consumer } from './consumer.ts';
import { WorkerMetrics } from './metrics.ts';
import { operationsServer } from './operations.ts';

/** Time limit for draining jobs. */
const drainTimeoutMs = 10_000;

const usedSettings = [
  'port',
  'baseUrl',
  'internalUrl',
  'opsPort',
  'workerPort',
  'workerHost',
  'dataDir',
  'mongodbUrl',
  'privateSources',
  'sourcePorts',
  'dnsServers',
  'nat64Prefixes',
  'userAgent',
  'autoFormats',
  'workerConcurrency',
  'workbenchUsername',
  'workbenchPassword',
  'purgeHookUrl',
  'hookSecrets',
  'logLevel',
  'logFormat',
] as const;
const { settings: allSettings } = settingsFromCommandLine(
  newCommand('worker').description(
    'Run only the worker, which prewarms images through the service and sends webhooks.',
  ),
  usedSettings,
);
const settings: Pick<Settings, (typeof usedSettings)[number]> = allSettings;
// Redacts all secrets of the environment.
const log = createLogger(allSettings, 'worker');

log.info({ version, node: process.version }, 'worker starting');

let store: Store | null = null;
let consumer: Consumer | null = null;
const shutdown = new Shutdown(log, settings);
const { signal } = shutdown;

const metrics = new WorkerMetrics(() => consumer?.queue ?? null);
const otlp = loadMetricsExport(process.env);
const server = operationsServer({
  settings,
  log,
  metrics,
  consumer: () => consumer,
  pingStore: (timeoutMs) =>
    store?.ping(timeoutMs) ?? Promise.reject(new Error('the store is not connected yet')),
  draining: () => signal.aborted,
});

shutdown.add(async () => store?.close().catch(() => {}));
shutdown.add(() => server.close());
shutdown.add(async () =>
  consumer?.stop(drainTimeoutMs).catch((error) => log.warn({ err: error }, 'draining jobs failed')),
);
// The service replaces its child processes on SIGHUP; a worker has no children.
process.on('SIGHUP', () => void shutdown.stop(0));
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'exiting after uncaught exception');
  process.exit(1);
});

async function listen(): Promise<void> {
  const refusal = otlpFailure(process.env);
  if (refusal !== null) await shutdown.fail(refusal);
  const { workerHost: host, workerPort: port } = settings;
  try {
    const [first = host, ...others] = toListenAddresses(host);
    await server.listen({ host: first, port });
    for (const address of others) await listenToo(address, port);
  } catch (error) {
    const reason = listenFailureText('SERVICE_WORKER_PORT', { host, port }, error);
    // Not a listener's error: for example, a workbench module that does not load.
    if (reason === null) throw error;
    await shutdown.fail(reason);
  }
  log.info({ port }, 'operations listener started');
  const exporter = await otlp;
  if (exporter !== null) {
    shutdown.add(exporter.startMetricsExport(process.env, log, () => metrics.registry));
  }
}

/** Serves the operations at another address too; Fastify listens on one. */
async function listenToo(host: string, port: number): Promise<void> {
  const other = createServer(server.routing).listen({ host, port });
  other.maxConnections = server.server.maxConnections;
  server.server.once('close', () => other.close());
  await once(other, 'listening');
}

/** Allows the same addresses for clients' callbacks as for sources. */
function callbackGuard(): AddressGuard {
  return new AddressGuard({ ...settings, own: ownAddresses(settings) });
}

async function consume(): Promise<void> {
  const onOutage = logOutages(log);
  const connected = await awaitStore(settings, signal, onOutage);
  store = connected;
  const { internalUrl: serviceUrl, workerConcurrency: concurrency } = settings;
  const starting = new Consumer({
    store: connected,
    serviceUrl,
    concurrency,
    autoFormats: settings.autoFormats,
    webhooks: { ...settings, guard: callbackGuard() },
    log,
    metrics,
  });
  consumer = starting;
  // The store can become unavailable again before the consumer starts.
  await retryDuringOutages(() => starting.start(), { signal, onOutage });
  log.info('worker ready');
  // Informs `npm start`.
  if (process.connected) process.send?.('ready', undefined, undefined, () => {});
  void watchForOutages(connected.ping, { signal, onOutage });
}

async function fail(error: unknown): Promise<void> {
  const reason = openErrorText(error, settings.dataDir);
  if (reason === null) await shutdown.fail('worker start failed', error);
  else await shutdown.fail(reason);
}

void listen().then(consume).catch(fail);
