import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger, type Logger } from '../contract/log.ts';
import { redactedMark } from '../contract/redact.ts';
import { isBackgroundToken } from '../contract/secrets.ts';
import type { Settings } from '../contract/settings/table.ts';
import { onlyProcess } from '../pool/coalescer.ts';
import { Engine } from '../pool/engine.ts';
import { readableFormats } from '../pool/formats/source-formats.ts';
import { watermarkInput } from '../pool/inputs.ts';
import { Callbacks } from '../store/callbacks.ts';
import { logOutages } from '../store/connection.ts';
import { DeploymentSecret } from '../store/deployment.ts';
import { findWorker } from '../store/heartbeat.ts';
import { JobQueue } from '../store/jobs.ts';
import { Keyring } from '../store/keyring.ts';
import { connectStore, type Store } from '../store/open.ts';
import { describeOutage } from '../store/outage.ts';
import { Prewarms } from '../store/prewarms.ts';
import type { FrontEndChannel, MachineStats, ToFrontEnd } from './cluster/channel.ts';
import { CoalescerClient } from './cluster/coalescer-client.ts';
import { DiskCacheReporter } from './cluster/disk-cache-reporter.ts';
import { WebConsole } from './console/console.ts';
import { Authentication } from './control/authenticate.ts';
import { ControlPlane, type ControlPlaneEnvironment } from './control/control-plane.ts';
import { Idempotency } from './control/idempotency.ts';
import { RateLimit } from './control/rate-limit.ts';
import { FrontEndMetrics } from './front-end-metrics.ts';
import { Health, type Readiness } from './health.ts';
import { App } from './http/app.ts';
import { chooseHttpServer } from './http/choose-server.ts';
import { ClientConnections, descriptorLimit, maxConnections } from './http/connection-limit.ts';
import { RequestHosts } from './http/forwarded.ts';
import type { HttpRequest } from './http/request.ts';
import { sameSiteOnly } from './http/same-site.ts';
import { isImagePath } from './image/address.ts';
import { ImageEndpoint } from './image/image-endpoint.ts';
import { imageErrorHeaders } from './image/image-errors.ts';
import { isPurgedKey, projectDigits } from './image/key.ts';
import { redactRequest } from './image/redact-request.ts';
import { SourceLoaders } from './origins/source-loaders.ts';
import { ProjectCache } from './project-cache.ts';
import { likelyPaths, routes, routingByHost } from './routes.ts';
import {
  logClosedConnections,
  logFailures,
  logLayerFailures,
  logSharedCache,
} from './telemetry/event-logs.ts';
import { ImageTelemetry } from './telemetry/image-telemetry.ts';
import type { Tracing } from './telemetry/otlp.ts';
import { startTracing } from './telemetry/tracing.ts';
import { UsageRecorder } from './usage/usage.ts';

const reportEveryMs = 1_000;
const compareProjectsEveryMs = 1_000;
/** A store that does not respond to a new process within this time counts as unavailable. */
const storeWithinMs = 500;
/** Time for requests in progress during a drain; the primary kills the process a little later. */
const drainWithinMs = 30_000;
/** Delay before reading the console's files, soon enough that they belong to this build. */
const consoleAfterMs = 1_000;
/** Time to finish writing files and to close connections after a drain. */
const closeWithinMs = 2_000;

/** Traced routes. Monitors request the other routes all the time. */
const traced: ReadonlySet<HttpRequest['route']> = new Set(['image', 'control']);

/**
 * Returns a request's path for a log line, which omits the query. On a delivery host, a path can
 * contain another service's signature, or an encoded source.
 */
const loggedPath = ({ route, path, shownUrl }: HttpRequest): string =>
  route !== 'image' || isImagePath(path) ? path : shownUrl || redactedMark;

/** Creates a front end when the primary has opened the store. It listens after `start`. */
export async function createFrontEnd(
  settings: Settings,
  channel: FrontEndChannel,
  log = createLogger(settings, 'front-end'),
): Promise<FrontEnd> {
  const { storeUrl } = await channel.start();
  const tracing = await startTracing(process.env, log);
  return new FrontEnd(settings, channel, log, tracing, storeUrl);
}

/** Serves all requests, with the store and the disk cache that the primary owns. */
class FrontEnd {
  readonly #settings: Settings;
  readonly #channel: FrontEndChannel;
  readonly #log: Logger;
  readonly #tracing: Tracing | null;
  readonly #store: Store;
  readonly #projects: ProjectCache;
  readonly #engine: Engine;
  readonly #coalescer: CoalescerClient;
  readonly #diskCacheReporter: DiskCacheReporter;
  readonly #metrics = new FrontEndMetrics();
  readonly #usage: UsageRecorder;
  readonly #delivery: ImageEndpoint;
  readonly #webConsole: WebConsole | null;
  readonly #app: App;
  readonly #onConnections: (connections: ClientConnections) => void;
  #machine: MachineStats;
  /** Whether the store has responded. */
  #connected = false;
  /** Whether the store contains its indexes and the root key. */
  #storePrepared = false;
  #onStorePrepared = (): void => {};
  readonly #prepared = new Promise<void>((resolve) => {
    this.#onStorePrepared = resolve;
  });
  #draining = false;
  /**
   * Whether the whole service is stopping. Replacing a front end drains it without setting this.
   */
  #serviceStops = false;
  #onDrained = (): void => {};
  readonly drained = new Promise<void>((resolve) => {
    this.#onDrained = resolve;
  });

  constructor(
    settings: Settings,
    channel: FrontEndChannel,
    log: Logger,
    tracing: Tracing | null,
    storeUrl: string,
  ) {
    this.#settings = settings;
    this.#channel = channel;
    this.#log = log;
    this.#tracing = tracing;
    this.#machine = {
      frontEnds: {},
      diskBytes: 0,
      diskMaxBytes: settings.diskCacheBytes,
      diskShortage: null,
    };
    // The connection notices the first outage, project comparisons the later outages.
    const logOutage = logOutages(log);
    this.#store = connectStore(
      storeUrl,
      (cause) => {
        if (this.#connected) return;
        logOutage(cause);
        if (cause !== null) this.#projects.assumeStoreDown(true);
      },
      { onCommand: this.#metrics.onCommand, keepsConnections: true },
    );
    this.#projects = new ProjectCache(this.#store.projects, {
      compareEveryMs: compareProjectsEveryMs,
      maxAgeMs: settings.staleProjectsSeconds * 1_000,
      onOutage: (error) =>
        logOutage(error === null ? null : describeOutage(this.#store.explain(error))),
      onPurge: (project) => {
        const digits = projectDigits(project._id);
        const { memory } = this.#engine.caches;
        memory.deleteWhere((key) => key.startsWith(digits) && isPurgedKey(project, key));
      },
      onUpdate: (update) => channel.send(update),
    });
    this.#coalescer = new CoalescerClient(channel);
    this.#diskCacheReporter = new DiskCacheReporter(channel, log);
    const secret = new DeploymentSecret(this.#store.db, this.#storeAvailable);
    this.#engine = new Engine(settings, {
      coalescer: settings.processes === 1 ? onlyProcess : this.#coalescer,
      disk: this.#diskCacheReporter,
      onSharedCacheChange: logSharedCache(log),
      deploymentSecret: () => secret.find(),
      onMemoryHit: (key) => this.#diskCacheReporter.read(key),
      onRender: (event, key, timings) => log.debug({ key, ...timings }, `render ${event}`),
      now: Date.now,
    });
    this.#usage = new UsageRecorder({
      records: this.#store.usage,
      activity: this.#store.activity,
      available: this.#storeAvailable,
      onFailure: (error, dropped) =>
        log.warn(
          { reason: describeOutage(this.#store.explain(error)), dropped },
          'storing project usage failed; retrying later',
        ),
      now: Date.now,
    });
    const { registry } = this.#metrics;
    const telemetry = new ImageTelemetry(registry, this.#usage, logFailures(log), redactRequest);
    const keyring = new Keyring(settings.encryptionKeys);
    const loaders = new SourceLoaders({ entries: settings.origins, keyring, log });
    const hosts = new RequestHosts(settings.baseUrl, settings.trustedProxies);
    this.#delivery = new ImageEndpoint({
      hosts,
      engine: this.#engine,
      projects: this.#projects,
      telemetry,
      isBackground: async (target, token) =>
        isBackgroundToken(await secret.find(), target, token, Date.now()),
      admitRender: (project) => this.#usage.limits.admit(project),
      onLayerFailure: logLayerFailures(log),
      createLoaderFinder: (latest) => loaders.of(latest),
      refusesUnknown: settings.unknownParameters === 'refuse',
      autoFormats: settings.autoFormats,
      autoFirst: settings.autoFirst,
      cacheTagHeaders: settings.cacheTagHeaders,
      vary: settings.vary,
      missingAgeSeconds: settings.missingAgeSeconds,
      now: Date.now,
    });
    this.#webConsole = settings.console ? new WebConsole(settings.consolePictures) : null;
    this.#app = this.#createApp(keyring, loaders, hosts);
    this.#onConnections = logClosedConnections(log);
  }

  #createApp(keyring: Keyring, loaders: SourceLoaders, hosts: RequestHosts): App {
    const log = this.#log;
    const tracing = this.#tracing;
    const webConsole = this.#webConsole;
    const delivery = this.#delivery;
    const { crossSite, baseUrl, ownHostOnly } = this.#settings;
    const logsRequests = log.isLevelEnabled('debug');
    const onError = (request: HttpRequest, error: unknown): void => {
      const { id: requestId, method } = request;
      const fields = { requestId, method, path: loggedPath(request) };
      log.error({ ...fields, err: this.#store.explain(error) }, 'request failed unexpectedly');
    };
    const queue = new JobQueue(this.#store.db);
    const control = this.#createControlPlane(queue, keyring, loaders, onError);
    const app: App = new App(
      routes({ delivery, control, health: this.#createHealth(queue), baseUrl, webConsole }),
      {
        errorPage: (failure, request) => webConsole?.errorPage(failure, request) ?? null,
        // The request might be for an image, for example with a too long URL.
        unreadableErrorHeaders: crossSite ? imageErrorHeaders : null,
        onError,
        likelyPaths,
        routeByHost: routingByHost({
          delivery,
          hosts,
          ownHostOnly,
          refusal: (method, path, host) => app.refusal(method, path, host),
        }),
        admit: crossSite ? null : sameSiteOnly(baseUrl),
        trace:
          tracing &&
          ((request) => (traced.has(request.route) ? tracing.begin(request, request.route) : null)),
        onEnd: (request, status, ms) => {
          const { id: requestId, method, tier } = request;
          this.#metrics.requests.ended(request, status, ms);
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

  #createHealth(queue: JobQueue): Health {
    return new Health({
      sourceFormats: readableFormats(this.#settings),
      store: this.#store,
      storeAvailable: this.#storeAvailable,
      projects: this.#projects,
      queue,
      findWorker: () => findWorker(this.#store.db),
      stats: () => this.#engine.stats(),
      machine: () => this.#machine,
      readiness: this.#readiness,
      transformTimeoutMs: this.#settings.transformTimeoutMs,
    });
  }

  #createControlPlane(
    queue: JobQueue,
    keyring: Keyring,
    loaders: SourceLoaders,
    onError: ControlPlaneEnvironment['onError'],
  ): ControlPlane {
    const { apiRateLimit, baseUrl, trustedProxies, purgeHookUrl, hookSecrets, fonts, ...settings } =
      this.#settings;
    const { db, keys, organisations, projects, purges } = this.#store;
    const callbacks = new Callbacks(db);
    return new ControlPlane({
      authentication: new Authentication(keys, organisations),
      rateLimit: new RateLimit(db, apiRateLimit),
      idempotency: new Idempotency(db),
      storeAvailable: this.#storeAvailable,
      trustedProxies,
      onError,
      services: {
        projects,
        guard: this.#engine.sources.guard,
        queue,
        prewarms: new Prewarms(db, settings.prewarmQueue),
        purges,
        callsPurgeHook: purgeHookUrl !== null,
        callbacks: hookSecrets.length === 0 ? null : callbacks,
        deliveries: callbacks,
        keys,
        usage: this.#usage,
        keyring,
        loaders,
        fonts,
        baseUrl,
        checkWatermark: (project, url, signal) => {
          const findLoader = loaders.of(() => project);
          const layer = { project: project._id, input: watermarkInput(url), findLoader };
          return this.#engine.checkLayer(layer, signal);
        },
        onChange: (project) => void this.#projects.apply(project),
      },
    });
  }

  /** Listens when the store has responded or counts as unavailable, and reports to the primary. */
  async start(): Promise<void> {
    const { httpEngine, host, port, trustedProxies } = this.#settings;
    this.#channel.receive((message) => this.#receive(message));
    const cannotStart = (reason: string) => this.#channel.send({ type: 'cannot-start', reason });
    const descriptors = await descriptorLimit();
    const limit = maxConnections(descriptors, this.#settings);
    const server = await chooseHttpServer(httpEngine, new ClientConnections(limit, trustedProxies));
    if (typeof server === 'string') return cannotStart(server);
    const { chosen, start } = server;
    await this.#awaitStore();
    if (!(await this.#app.listen(start, host, port))) {
      return cannotStart(`cannot listen on ${host} port ${port}`);
    }
    this.#log.info(chosen, 'HTTP server listening');
    this.#metrics.listens(chosen.engine);
    setInterval(() => void this.#report(), reportEveryMs).unref();
    this.#usage.start();
    this.#channel.send({ type: 'ready', httpServer: chosen });
    setTimeout(() => this.#webConsole?.preload(), consoleAfterMs).unref();
  }

  /**
   * Finishes the requests in progress, then closes.
   * @param graceMs time without requests before connections in use count as idle; a later call,
   *   when the whole service stops, shortens it
   */
  async drain(graceMs: number): Promise<void> {
    const served = this.#app.drain(graceMs, drainWithinMs);
    if (this.#draining) return;
    this.#draining = true;
    this.#log.info('draining');
    await served;
    this.#projects.stop();
    const stored = this.#usage.close().finally(() => this.#store.close());
    const closed = Promise.all([this.#engine.close(), stored, this.#tracing?.close()]);
    await Promise.race([closed, sleep(closeWithinMs)]);
    this.#diskCacheReporter.flush();
    await this.#report();
    this.#log.info('drained');
    this.#onDrained();
  }

  readonly #readiness = (): Readiness => {
    if (this.#serviceStops) return 'draining';
    return this.#connected || this.#projects.knowledge.count > 0 ? 'ready' : 'starting';
  };

  readonly #storeAvailable = (): boolean => this.#storePrepared && !this.#projects.isStoreDown;

  async #report(): Promise<void> {
    const stats = this.#engine.stats();
    const metrics = this.#metrics.snapshot({
      engine: stats,
      responses: this.#delivery.responses,
      knownProjects: this.#projects.knowledge.count,
      openRequests: this.#app.open,
      connections: this.#app.connections,
      storeAvailable: this.#storeAvailable(),
    });
    if (this.#app.connections !== null) this.#onConnections(this.#app.connections);
    const projects = this.#usage.totals.takeReport();
    if (this.#usage.totals.isFull) void this.#usage.store();
    const { confirmedAt: projectsConfirmedAt } = this.#projects.knowledge;
    this.#channel.send({ type: 'stats', stats, metrics, projects, projectsConfirmedAt });
  }

  /**
   * Resolves when the store has responded or counts as unavailable. Earlier requests would wait for
   * the store: known projects can be out of date, so they are served only if the store is
   * unavailable.
   */
  async #awaitStore(): Promise<void> {
    const polled = this.#store.established().then(async () => {
      this.#connected = true;
      await this.#projects.start();
      return true;
    });
    void Promise.all([polled, this.#prepared]).then(
      () => this.#channel.send({ type: 'store-reached' }),
      // Closed early.
      () => {},
    );
    const answered = polled.catch(() => false);
    if (!(await Promise.race([answered, sleep(storeWithinMs, false)]))) {
      this.#projects.assumeStoreDown(false);
    }
  }

  #receive(message: ToFrontEnd): void {
    switch (message.type) {
      case 'service-stops':
        this.#serviceStops = true;
        return;
      case 'drain':
        return void this.drain(message.graceMs);
      case 'machine-stats':
        this.#machine = message.stats;
        this.#engine.caches.pauseDiskWrites(message.stats.diskShortage !== null);
        return;
      case 'store-opened':
        this.#projects.remember(message.knownProjects.projects, message.knownProjects.confirmedAt);
        return;
      case 'store-prepared':
        this.#storePrepared = true;
        return this.#onStorePrepared();
      case 'project-changed':
        return this.#projects.compare(message.id);
      default:
        return this.#coalescer.receive(message);
    }
  }
}
