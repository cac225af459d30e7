import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import type { Settings } from '../contract/settings/table.ts';
import { Engine } from '../pool/engine.ts';
import type { EngineSettings } from '../pool/settings.ts';
import { logOutages } from '../store/connection.ts';
import { JobQueue } from '../store/jobs.ts';
import { connectStore } from '../store/open.ts';
import {
  channelToPrimary,
  dispatcher,
  type Fleet,
  type FrontEndFigures,
  storeUrlVariable,
  type ToFrontEnd,
} from './cluster/channel.ts';
import { PrimaryCoordination } from './cluster/coordination.ts';
import { DiskNews } from './cluster/disk-news.ts';
import { ControlPlane } from './control/api.ts';
import { Authentication } from './control/authenticate.ts';
import { ProjectOperations } from './control/projects.ts';
import { RateLimit } from './control/rate-limit.ts';
import { Health } from './health.ts';
import { App, engineFailure } from './http/app.ts';
import { untilQuiet } from './http/drain.ts';
import { explain } from './http/error-response.ts';
import type { Exchange } from './http/exchange.ts';
import { BackgroundSecret } from './image/background.ts';
import { Delivery } from './image/deliver.ts';
import { ProjectCache } from './projects.ts';
import { routes } from './routes.ts';

/** One front-end process: it is forked by the primary and told over the channel what it must know. */

const figuresEveryMs = 1_000;
const projectsEveryMs = 1_000;
/** How long a drain waits for requests in flight; the primary's patience is a little longer. */
const drainWithinMs = 30_000;
/** After that, for files that are being written and connections that are being closed. */
const closeWithinMs = 2_000;

function engineSettings(settings: Settings): EngineSettings {
  const { processes, baseUrl, diskCacheBytes, dataDir, port } = settings;
  return {
    threads: settings.poolThreads,
    queue: settings.poolQueue,
    fetchConcurrency: settings.fetchConcurrency,
    memoryCacheBytes: Math.floor(settings.memoryCacheBytes / processes),
    diskCacheFolder: diskCacheBytes === 0 ? null : resolve(join(dataDir, 'cache')),
    privateSources: settings.privateSources,
    sourceMaxBytes: settings.sourceMaxBytes,
    sourceMaxPixels: settings.sourceMaxPixels,
    sourceTimeoutMs: settings.sourceTimeoutMs,
    transformTimeoutMs: settings.transformTimeoutMs,
    own: { hosts: [new URL(baseUrl).hostname], port },
  };
}

const settings = settingsOrExit();
const log = createLogger(settings, 'front-end');
const channel = channelToPrimary();
const store = connectStore(process.env[storeUrlVariable] ?? '', logOutages(log));
const coordination = new PrimaryCoordination(channel);
const diskNews = new DiskNews(channel, log);

const engine = new Engine(engineSettings(settings), {
  coordination,
  disk: diskNews,
  onMemoryHit: (key) => diskNews.read(key),
  onRender: (event, key, timings) => log.debug({ key, ...timings }, `render ${event}`),
  now: Date.now,
});
coordination.holdFlight = (key) => engine.hold(key);
coordination.promoteFlight = (key) => {
  // A full pool refuses; the followers then wait as the background work does.
  if (!engine.pool.full) engine.promote(key);
};

const projects = new ProjectCache(store.projects, {
  pollEveryMs: projectsEveryMs,
  onTrouble: (error) => {
    if (error === null) log.info('the store answers again');
    else log.error({ err: error }, 'the store is away; known projects go on being served');
  },
});
const backgroundSecret = new BackgroundSecret(store.db);
const delivery = new Delivery({
  engine,
  projects,
  isBackground: (target, token) => backgroundSecret.marks(target, token),
  now: Date.now,
});

let fleet: Fleet = { figures: {}, diskBytes: 0, diskMaxBytes: settings.diskCacheBytes };
let draining = false;

function figures(): FrontEndFigures {
  const pool = engine.pool.stats();
  const sources = engine.sources.stats();
  return {
    memoryBytes: engine.memory.bytes,
    memoryMaxBytes: engine.memory.maxBytes,
    active: pool.active,
    queued: pool.queued,
    concurrency: pool.concurrency,
    maxQueue: pool.maxQueue,
    rejected: engine.refused,
    completed: pool.completed,
    fetching: sources.fetching,
    flights: engine.flights,
    exchanges: app.open,
    stalledMs: pool.stalledMs,
  };
}

const queue = new JobQueue(store.db);
const health = new Health({
  store,
  queue,
  figures,
  fleet: () => fleet,
  draining: () => draining,
  transformTimeoutMs: settings.transformTimeoutMs,
});

const onError = ({ id, method, path }: Exchange, error: unknown): void =>
  log.error(
    { requestId: id, method, path, err: store.explain(error) },
    'a request failed unexpectedly',
  );

const rateLimit = new RateLimit(store.db, settings.apiRateLimit);
const control = new ControlPlane({
  authentication: new Authentication(store.keys, store.organisations),
  rateLimit,
  projects: store.projects,
  operations: new ProjectOperations({
    projects: store.projects,
    guard: engine.sources.guard,
    onChange: (project) => {
      projects.apply(project);
      channel.send({ type: 'project-changed', id: project._id });
    },
  }),
  guard: engine.sources.guard,
  queue,
  baseUrl: settings.baseUrl,
  onError,
});

const app = new App(
  routes({ delivery, control, health, baseUrl: settings.baseUrl }),
  {
    explain,
    onError,
    // The query may hold a signature, so it is not logged.
    onEnd: log.isLevelEnabled('debug')
      ? ({ id, method, path }, status, ms) => {
          log.debug(
            { requestId: id, method, path, status, ms: Math.round(ms * 10) / 10 },
            'request',
          );
        }
      : null,
  },
  `${process.pid.toString(36)}-${Date.now().toString(36)}-`,
);

/** Answers what is in flight, then ends. */
async function drain(graceMs: number): Promise<void> {
  if (draining) return;
  draining = true;
  log.info('draining');
  await untilQuiet(app, graceMs, drainWithinMs);
  projects.stop();
  await Promise.race([Promise.all([engine.close(), store.close()]), sleep(closeWithinMs)]);
  diskNews.flush();
  log.info('drained');
  process.exit(0);
}

const receive = dispatcher<ToFrontEnd>({
  drain: ({ graceMs }) => void drain(graceMs),
  fleet: (message) => {
    fleet = message.fleet;
  },
  'project-changed': ({ id }) => void projects.refresh(id),
  'flight-lead': (order) => coordination.receive(order),
  'flight-follow': (order) => coordination.receive(order),
  'flight-outcome': (order) => coordination.receive(order),
  'flight-hold': (order) => coordination.receive(order),
  'flight-release': (order) => coordination.receive(order),
  'flight-promote': (order) => coordination.receive(order),
  'flight-landing': (order) => coordination.receive(order),
});

// The primary decides when to end, also when a terminal signals the whole group.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
process.on('SIGTERM', () => void drain(0));
/**
 * Without a primary nothing is left to do or to tell. An orderly exit, which is what node:cluster has
 * in mind, would wait for threads, and one that is inside native code may keep it from ending.
 */
const endOrphaned = (): void => void process.kill(process.pid, 'SIGKILL');
process.prependListener('disconnect', endOrphaned);
if (process.connected === false) endOrphaned();
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'this process ends because of an error that nobody caught');
  process.exit(1);
});
process.on('message', (message) => receive(message as ToFrontEnd));

if (engineFailure !== null) {
  channel.send({ type: 'hopeless', reason: engineFailure });
} else if (await app.listen(settings.host, settings.port)) {
  // Until then the connection itself says that the store is away.
  store.established().then(
    () => projects.start(),
    () => {},
  );
  setInterval(() => channel.send({ type: 'figures', figures: figures() }), figuresEveryMs).unref();
  channel.send({ type: 'ready' });
} else {
  channel.send({
    type: 'hopeless',
    reason: `cannot listen on ${settings.host} port ${settings.port}`,
  });
}
