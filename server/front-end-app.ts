import type { Logger } from '../contract/log.ts';
import { redactedMark } from '../contract/redact.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Engine } from '../pool/engine.ts';
import { readableFormats } from '../pool/formats/source-formats.ts';
import { watermarkInput } from '../pool/inputs.ts';
import { Callbacks } from '../store/callbacks.ts';
import { findWorker } from '../store/heartbeat.ts';
import { JobQueue } from '../store/jobs.ts';
import type { Keyring } from '../store/keyring.ts';
import type { Store } from '../store/open.ts';
import { Prewarms } from '../store/prewarms.ts';
import type { MachineStats } from './cluster/channel.ts';
import type { WebConsole } from './console/console.ts';
import { Authentication } from './control/authenticate.ts';
import { ControlPlane, type ControlPlaneEnvironment } from './control/control-plane.ts';
import { RateLimit } from './control/rate-limit.ts';
import type { FrontEndMetrics } from './front-end-metrics.ts';
import { Health, type Readiness } from './health.ts';
import { App } from './http/app.ts';
import type { RequestHosts } from './http/forwarded.ts';
import type { HttpRequest } from './http/request.ts';
import { sameSiteOnly } from './http/same-site.ts';
import { isImagePath } from './image/address.ts';
import type { ImageEndpoint } from './image/image-endpoint.ts';
import { imageErrorHeaders } from './image/image-errors.ts';
import type { SourceLoaders } from './origins/source-loaders.ts';
import type { ProjectCache } from './project-cache.ts';
import { likelyPaths, routes, routingByHost } from './routes.ts';
import type { Tracing } from './telemetry/otlp.ts';
import type { UsageRecorder } from './usage/usage.ts';

/** The parts that serve a front end's requests. */
interface FrontEndParts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly tracing: Tracing | null;
  readonly metrics: FrontEndMetrics;
  readonly store: Store;
  /** False while the store is considered unavailable, or is unprepared. */
  readonly storeAvailable: () => boolean;
  readonly engine: Engine;
  readonly projects: ProjectCache;
  readonly loaders: SourceLoaders;
  readonly keyring: Keyring;
  readonly usage: UsageRecorder;
  readonly delivery: ImageEndpoint;
  readonly hosts: RequestHosts;
  readonly webConsole: WebConsole | null;
  readonly readiness: () => Readiness;
  /** The machine's latest stats. */
  readonly machine: () => MachineStats;
}

/** Traced routes. Monitors request the other routes all the time. */
const traced: ReadonlySet<HttpRequest['route']> = new Set(['image', 'control']);

/**
 * Returns a request's path for a log line, which omits the query. On a delivery host, a path can
 * contain another service's signature, or an encoded source.
 */
const loggedPath = ({ route, path, shownUrl }: HttpRequest): string =>
  route !== 'image' || isImagePath(path) ? path : shownUrl || redactedMark;

/** Creates a front end's HTTP app. */
export function createApp(parts: FrontEndParts): App {
  const { settings, log, tracing, metrics, store, webConsole } = parts;
  const { crossSite, baseUrl, ownHostOnly } = settings;
  const logsRequests = log.isLevelEnabled('debug');
  const onError = (request: HttpRequest, error: unknown): void => {
    const { id: requestId, method } = request;
    const err = store.explain(error);
    log.error({ requestId, method, path: loggedPath(request), err }, 'request failed unexpectedly');
  };
  const queue = new JobQueue(store.db);
  const app: App = new App(
    routes({
      delivery: parts.delivery,
      control: createControlPlane(parts, queue, onError),
      health: createHealth(parts, queue),
      baseUrl,
      webConsole,
    }),
    {
      errorPage: (failure, request) => webConsole?.errorPage(failure, request) ?? null,
      // The request might be for an image, for example with a too long URL.
      unreadableErrorHeaders: crossSite ? imageErrorHeaders : null,
      onError,
      likelyPaths,
      routeByHost: routingByHost({
        delivery: parts.delivery,
        hosts: parts.hosts,
        ownHostOnly,
        refusal: (method, path, host) => app.refusal(method, path, host),
      }),
      admit: crossSite ? null : sameSiteOnly(baseUrl),
      trace:
        tracing &&
        ((request) => (traced.has(request.route) ? tracing.begin(request, request.route) : null)),
      onEnd: (request, status, ms) => {
        const { id: requestId, method, tier } = request;
        metrics.requests.ended(request, status, ms);
        request.trace?.end(status, tier);
        if (!logsRequests) return;
        const path = loggedPath(request);
        log.debug({ requestId, method, path, status, ms: Math.round(ms * 10) / 10 }, 'request');
      },
    },
    `${process.pid.toString(36)}-${Date.now().toString(36)}-`,
  );
  return app;
}

function createHealth(parts: FrontEndParts, queue: JobQueue): Health {
  const { settings, engine } = parts;
  return new Health({
    sourceFormats: readableFormats(settings),
    store: parts.store,
    storeAvailable: parts.storeAvailable,
    projects: parts.projects,
    queue,
    findWorker: () => findWorker(parts.store.db),
    stats: () => engine.stats(),
    machine: parts.machine,
    readiness: parts.readiness,
    transformTimeoutMs: settings.transformTimeoutMs,
  });
}

function createControlPlane(
  { settings, store, storeAvailable, engine, usage, keyring, loaders, ...parts }: FrontEndParts,
  queue: JobQueue,
  onError: ControlPlaneEnvironment['onError'],
): ControlPlane {
  const { apiRateLimit, baseUrl, trustedProxies, purgeHookUrl, hookSecret, fonts } = settings;
  const { db, keys, organisations, projects, purges } = store;
  const callbacks = new Callbacks(db);
  return new ControlPlane({
    authentication: new Authentication(keys, organisations),
    rateLimit: new RateLimit(db, apiRateLimit),
    storeAvailable,
    trustedProxies,
    onError,
    services: {
      projects,
      guard: engine.sources.guard,
      queue,
      prewarms: new Prewarms(db, settings.prewarmQueue),
      purges,
      callsPurgeHook: purgeHookUrl !== null,
      callbacks: hookSecret === null ? null : callbacks,
      deliveries: callbacks,
      keys,
      usage,
      keyring,
      loaders,
      fonts,
      baseUrl,
      checkWatermark: (project, url, signal) => {
        const findLoader = loaders.of(() => project);
        const layer = { project: project._id, input: watermarkInput(url), findLoader };
        return engine.checkLayer(layer, signal);
      },
      onChange: (project) => void parts.projects.apply(project),
    },
  });
}
