import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import { onlyProcess } from '../pool/coalescer.ts';
import { Engine } from '../pool/engine.ts';
import { optionalFormatsProbed, readableFormats } from '../pool/formats/optional-formats.ts';
import type { EngineSettings } from '../pool/settings.ts';
import { logOutages } from '../store/connection.ts';
import { JobQueue } from '../store/jobs.ts';
import { connectStore } from '../store/open.ts';
import { outageInWords } from '../store/outage.ts';
import type { Project } from '../store/projects.ts';
import {
  channelToPrimary,
  dispatcher,
  type FrontEndStats,
  type MachineStats,
  type ToFrontEnd,
} from './cluster/channel.ts';
import { CoalescerClient } from './cluster/coalescer-client.ts';
import { DiskCacheReporter } from './cluster/disk-cache-reporter.ts';
import { WebConsole } from './console/console.ts';
import { ControlPlane } from './control/api.ts';
import { Authentication } from './control/authenticate.ts';
import { PresetResource } from './control/preset-resource.ts';
import { ProjectResource } from './control/project-resource.ts';
import { RateLimit } from './control/rate-limit.ts';
import { FrontEndMetrics } from './front-end-metrics.ts';
import { Health } from './health.ts';
import { App } from './http/app.ts';
import { chooseHttpServer, HttpServerUnavailable } from './http/choose-server.ts';
import { drainRequests } from './http/drain.ts';
import { errorResponse } from './http/error-response.ts';
import type { HttpRequest } from './http/request.ts';
import { sameSiteOnly } from './http/same-site.ts';
import { BackgroundTokens } from './image/background.ts';
import { Delivery } from './image/deliver.ts';
import { logWatermarkFailures } from './image/watermark-failures.ts';
import { ProjectCache } from './project-cache.ts';
import { routes } from './routes.ts';
import { logFailures } from './telemetry/failure-log.ts';
import { ImageTelemetry } from './telemetry/image-telemetry.ts';
import { startTracing } from './telemetry/start-tracing.ts';

/** One front-end process. The primary forks it and sends it messages over the channel. */

const statsEveryMs = 1_000;
const projectsEveryMs = 1_000;
/** A store that has not answered a new process within this time counts as unavailable. */
const storeWithinMs = 500;
/** How long a drain waits for requests in progress; the primary kills the process a little later. */
const drainWithinMs = 30_000;
/** The console's files are read when nobody needed them before, soon enough to be of this build. */
const consoleAfterMs = 1_000;
/** After the drain: time to finish writing files and to close connections. */
const closeWithinMs = 2_000;

function engineSettings(settings: Settings): EngineSettings {
  const { processes, baseUrl, internalUrl, diskCacheBytes, dataDir } = settings;
  const { port, workerPort, opsPort } = settings;
  return {
    threads: settings.poolThreads,
    queue: settings.poolQueue,
    costlyBytes: settings.poolMemoryBytes,
    fetchConcurrency: settings.fetchConcurrency,
    memoryCacheBytes: Math.floor(settings.memoryCacheBytes / processes),
    diskCacheFolder: diskCacheBytes === 0 ? null : resolve(join(dataDir, 'cache')),
    privateSources: settings.privateSources,
    sourcePorts: settings.sourcePorts,
    dnsServers: settings.dnsServers,
    sourceMaxBytes: settings.sourceMaxBytes,
    sourceHeldBytes: settings.sourceHeldBytes,
    sourceMaxPixels: settings.sourceMaxPixels,
    sourceTimeoutMs: settings.sourceTimeoutMs,
    transformTimeoutMs: settings.transformTimeoutMs,
    processMemoryBytes: settings.transformProcessMemoryBytes,
    own: { urls: [baseUrl, internalUrl], ports: [port, workerPort, opsPort ?? defaultOpsPort] },
  };
}

const settings = settingsOrExit();
const log = createLogger(settings, 'front-end');
const channel = channelToPrimary();

// The primary decides when a front end ends, also when a terminal signals the whole process group.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
/**
 * Without the primary a front end has no work and no receiver for its messages. The normal exit, which
 * node:cluster would make, waits for threads, and a thread inside native code may never end.
 */
const endOrphaned = (): void => void process.kill(process.pid, 'SIGKILL');
process.prependListener('disconnect', endOrphaned);
if (process.connected === false) endOrphaned();
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'this process ends because of an uncaught exception');
  process.exit(1);
});

const { storeUrl } = await channel.start();
const metrics = new FrontEndMetrics();
const tracing = await startTracing(process.env, log);
/** Says each outage once: at first the connection sees it, and later the polling of changes. */
const logOutage = logOutages(log);
let connected = false;
const store = connectStore(
  storeUrl,
  (cause) => {
    if (connected) return;
    logOutage(cause);
    if (cause !== null) projects.assumeStoreAway(true);
  },
  metrics.onCommand,
);
const coalescer = new CoalescerClient(channel);
const diskCacheReporter = new DiskCacheReporter(channel, log);

const engine = new Engine(engineSettings(settings), {
  coalescer: settings.processes === 1 ? onlyProcess : coalescer,
  disk: diskCacheReporter,
  onMemoryHit: (key) => diskCacheReporter.read(key),
  onRender: (event, key, timings) => log.debug({ key, ...timings }, `render ${event}`),
  now: Date.now,
});
const projects = new ProjectCache(store.projects, {
  pollEveryMs: projectsEveryMs,
  maxAgeMs: settings.staleProjectsSeconds * 1_000,
  onOutage: (error) => logOutage(error === null ? null : outageInWords(store.explain(error))),
  onNews: (news) => channel.send(news),
});
/** Whether the primary has prepared the store: before, it has no root key, for example. */
let storePrepared = false;
const storeAvailable = (): boolean => storePrepared && !projects.storeAway;
const backgroundTokens = new BackgroundTokens(store.db, storeAvailable);
const telemetry = new ImageTelemetry({ cells: metrics.registry, onFailure: logFailures(log) });
const delivery = new Delivery({
  engine,
  projects,
  telemetry,
  isBackground: (target, token) => backgroundTokens.verify(target, token),
  onWatermarkFailure: logWatermarkFailures(log),
  now: Date.now,
});

let machine: MachineStats = {
  frontEnds: {},
  diskBytes: 0,
  diskMaxBytes: settings.diskCacheBytes,
  diskFull: false,
};
let draining = false;

function stats(): FrontEndStats {
  const { memory, transforms, sources, misses, refused } = engine.stats();
  return {
    memoryBytes: memory.bytes,
    memoryMaxBytes: memory.maxBytes,
    active: transforms.active,
    queued: transforms.queued,
    concurrency: transforms.concurrency,
    maxQueue: transforms.maxQueue,
    rejected: refused,
    completed: transforms.completed,
    fetching: sources.fetching,
    fetchConcurrency: sources.concurrency,
    fetchesRejected: sources.rejected,
    heldBytes: sources.heldBytes,
    heldMaxBytes: sources.heldMaxBytes,
    heldRejected: sources.heldRejected,
    misses,
    stuck: transforms.stuck,
    stalledMs: transforms.stalledMs,
  };
}

const queue = new JobQueue(store.db, settings.prewarmQueue);
await optionalFormatsProbed;
const health = new Health({
  sourceFormats: readableFormats(),
  store,
  storeAvailable,
  projects,
  queue,
  stats,
  machine: () => machine,
  draining: () => draining,
  transformTimeoutMs: settings.transformTimeoutMs,
});

const onError = ({ id, method, path }: HttpRequest, error: unknown): void =>
  log.error(
    { requestId: id, method, path, err: store.explain(error) },
    'a request failed unexpectedly',
  );

const rateLimit = new RateLimit(store.db, settings.apiRateLimit);
const applyChange = (project: Project): void => void projects.apply(project);
const control = new ControlPlane({
  authentication: new Authentication(store.keys, store.organisations),
  rateLimit,
  storeAvailable,
  projects: store.projects,
  operations: new ProjectResource({
    projects: store.projects,
    guard: engine.guard,
    checkWatermark: (url, signal) => engine.checkWatermark(url, signal),
    onChange: applyChange,
  }),
  presets: new PresetResource({ projects: store.projects, onChange: applyChange }),
  guard: engine.guard,
  queue,
  baseUrl: settings.baseUrl,
  trustedProxies: settings.trustedProxies,
  onError,
});

const webConsole = settings.console ? new WebConsole(settings.consolePictures) : null;
const logsRequests = log.isLevelEnabled('debug');
/** Without the query, which may contain a signature. */
const logRequest = ({ id, method, path }: HttpRequest, status: number | null, ms: number): void =>
  log.debug({ requestId: id, method, path, status, ms: Math.round(ms * 10) / 10 }, 'request');
/** Routes whose requests are traced; monitors request the others again and again. */
const traced: ReadonlySet<HttpRequest['route']> = new Set(['image', 'control']);

const app = new App(
  routes({ delivery, control, health, baseUrl: settings.baseUrl, webConsole }),
  {
    errorResponse: (failure, request) =>
      webConsole?.errorPage(failure, request) ?? errorResponse(failure),
    onError,
    admit: settings.crossSite ? null : sameSiteOnly(settings.baseUrl),
    trace:
      tracing &&
      ((request) => (traced.has(request.route) ? tracing.begin(request, request.route) : null)),
    onEnd: (request, status, ms) => {
      metrics.ended(request, status, ms);
      request.trace?.end({ status, tier: request.tier });
      if (logsRequests) logRequest(request, status, ms);
    },
  },
  `${process.pid.toString(36)}-${Date.now().toString(36)}-`,
);

/** Tells the primary what this process counts and does. */
const report = (): void =>
  channel.send({
    type: 'stats',
    stats: stats(),
    metrics: metrics.snapshot({ engine, delivery, projects, app, storeAvailable }),
    projects: telemetry.projects.take(),
  });

/** Finishes the requests in progress, then ends the process. */
async function drain(graceMs: number): Promise<void> {
  if (draining) return;
  draining = true;
  log.info('draining');
  await drainRequests(app, graceMs, drainWithinMs);
  projects.stop();
  const closed = Promise.all([engine.close(), store.close(), tracing?.close()]);
  await Promise.race([closed, sleep(closeWithinMs)]);
  diskCacheReporter.flush();
  report();
  log.info('drained');
  process.exit(0);
}

let markPrepared = (): void => {};
const prepared = new Promise<void>((resolve) => {
  markPrepared = () => {
    storePrepared = true;
    resolve();
  };
});

/**
 * Resolves when it is known whether the store is available, so that no request waits for a store
 * that is not: until then the known projects are not served, because they may be out of date.
 */
async function askStore(): Promise<void> {
  const polled = store.established().then(async () => {
    connected = true;
    await projects.start();
    return true;
  });
  void Promise.all([polled, prepared]).then(
    () => channel.send({ type: 'store-reached' }),
    // Closed before.
    () => {},
  );
  const asked = polled.catch(() => false);
  if (!(await Promise.race([asked, sleep(storeWithinMs, false)]))) projects.assumeStoreAway(false);
}

const receive = dispatcher<ToFrontEnd>({
  drain: ({ graceMs }) => void drain(graceMs),
  'machine-stats': (message) => {
    machine = message.stats;
    engine.writesToDisk = !machine.diskFull;
  },
  welcome: (message) => {
    if (message.storePrepared) markPrepared();
    const { projects: known, confirmedAt } = message.knowledge;
    projects.remember(known, confirmedAt);
  },
  'store-prepared': () => markPrepared(),
  'project-known': ({ project }) => projects.remember([project]),
  'render-lead': (reply) => coalescer.receive(reply),
  'render-follow': (reply) => coalescer.receive(reply),
  'render-outcome': (reply) => coalescer.receive(reply),
  'render-retain': (reply) => coalescer.receive(reply),
  'render-release': (reply) => coalescer.receive(reply),
  'render-promote': (reply) => coalescer.receive(reply),
  'render-acknowledged': (reply) => coalescer.receive(reply),
});

process.on('SIGTERM', () => void drain(0));
channel.receive(receive);

/** Null when the HTTP server of the setting is unavailable; the primary then ends this process. */
const httpServer = await chooseHttpServer(settings.httpEngine).catch((error: unknown) => {
  if (!(error instanceof HttpServerUnavailable)) throw error;
  channel.send({ type: 'cannot-start', reason: error.message });
  return null;
});
if (httpServer !== null) await askStore();
if (httpServer === null) {
  // Nothing to start.
} else if (await app.listen(httpServer.start, settings.host, settings.port)) {
  const { taken } = httpServer;
  log.info(taken, 'the HTTP server listens');
  metrics.listens(taken.engine);
  setInterval(report, statsEveryMs).unref();
  channel.send({ type: 'ready', httpServer: taken });
  setTimeout(() => webConsole?.load(), consoleAfterMs).unref();
} else {
  channel.send({
    type: 'cannot-start',
    reason: `cannot listen on ${settings.host} port ${settings.port}`,
  });
}
