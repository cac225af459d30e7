import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger, isOnTerminal, type Logger } from '../contract/log.ts';
import { findMachine } from '../contract/machine.ts';
import { otlpFailure } from '../contract/otlp/environment.ts';
import { documentPath, programUrl, version } from '../contract/package.ts';
import type { S3Location } from '../contract/s3-location.ts';
import { listenFailureText } from '../contract/settings/listeners.ts';
import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import { endsWithTerminal, Shutdown } from '../contract/shutdown.ts';
import { diskCacheFolder } from '../pool/cache/disk.ts';
import { heifProgram } from '../pool/formats/heif/program.ts';
import type { Bucket } from '../pool/s3/bucket.ts';
import type { Store } from '../store/open.ts';
import type { FrontEndStats } from './cluster/channel.ts';
import { MachineCoalescer } from './cluster/coalescer.ts';
import { DiskCacheIndex } from './cluster/disk-cache-index.ts';
import { DiskSpace } from './cluster/disk-space.ts';
import { KnownProjects } from './cluster/known-projects.ts';
import { frontEndArguments, frontEndEnvironment, memoryShortage } from './cluster/machine.ts';
import { type FrontEndMessage, Supervisor } from './cluster/supervisor.ts';
import { Sweep } from './cluster/sweep.ts';
import type { ChosenServer } from './http/choose-server.ts';
import { freePort, startOperations } from './operations.ts';
import { PrimaryMetrics } from './primary-metrics.ts';
import { findFolderFailure, StartMessage, warnOfVariables } from './primary-start.ts';

const statsEveryMs = 1_000;
const frontEndEntry = fileURLToPath(programUrl('server/front-end-main'));

/** Owns the store and the disk cache index, and supervises the front ends. */
export class Primary {
  readonly #settings: Settings;
  readonly #machine = findMachine();
  readonly #log: Logger;
  readonly #onTerminal: boolean;
  readonly #shutdown: Shutdown;
  readonly #supervisor: Supervisor;
  readonly #coalescer: MachineCoalescer;
  readonly #diskCacheIndex: DiskCacheIndex;
  /** Null if there is no shared cache. */
  #bucket: Bucket | null = null;
  readonly #diskSpace: DiskSpace;
  readonly #metrics: PrimaryMetrics;
  readonly #known = new KnownProjects();
  /** The HTTP server of the latest listening front end. */
  #httpServer: ChosenServer | null = null;
  readonly #stats = new Map<number, FrontEndStats>();
  /** Resolves when the front ends can use the store and the disk cache folder. */
  #opening: Promise<Store> = new Promise(() => {});
  #storePrepared = false;
  /** Front ends that have reached the store. */
  readonly #reached = new Set<number>();
  #onAllReached = (): void => {};

  constructor(settings: Settings) {
    const log = createLogger(settings, 'primary');
    this.#settings = settings;
    this.#log = log;
    this.#onTerminal = isOnTerminal(settings);
    this.#shutdown = new Shutdown(log, settings, () => this.#announceStop());
    this.#diskCacheIndex = new DiskCacheIndex(
      diskCacheFolder(settings),
      settings.diskCacheBytes,
      (error) => log.error({ err: error }, 'deleting disk cache file failed'),
    );
    this.#diskSpace = new DiskSpace({
      folder: settings.dataDir,
      reserveBytes: settings.diskReserveBytes,
      index: this.#diskCacheIndex,
      log,
    });
    this.#supervisor = new Supervisor({
      entry: frontEndEntry,
      processes: settings.processes,
      execArgv: frontEndArguments,
      environment: frontEndEnvironment(settings, this.#machine),
      log,
      stalledAfterMs: 2 * settings.transformTimeoutMs,
    });
    this.#coalescer = new MachineCoalescer((frontEnd, reply) =>
      this.#supervisor.send(frontEnd, reply),
    );
    this.#metrics = new PrimaryMetrics(
      settings,
      this.#supervisor,
      this.#diskCacheIndex,
      this.#diskSpace,
    );
  }

  /** Resolves when the service is ready. A fatal error ends the process. */
  async start(): Promise<void> {
    const log = this.#log;
    const shutdown = this.#shutdown;
    const settings = this.#settings;
    const machine = this.#machine;
    const { processes, poolThreads, poolMemoryBytes, memoryCacheBytes } = settings;
    const heicDecoder = heifProgram ?? 'WebAssembly';
    const chosen = { processes, poolThreads, poolMemoryBytes, memoryCacheBytes, heicDecoder };
    log.info({ version, node: process.version, ...machine, ...chosen }, 'service starting');
    warnOfVariables(log, settings);
    const shortage = memoryShortage(settings, machine.memoryBytes);
    if (shortage !== null) log.warn(shortage);
    // SIGHUP must not end the process before it can replace front ends.
    process.on('SIGHUP', () => {});
    const refusal = otlpFailure(process.env) ?? (await findFolderFailure(settings));
    if (refusal !== null) await shutdown.fail(refusal);
    await freePort(settings).catch((error: unknown) =>
      this.#failToListen('SERVICE_PORT', settings, error),
    );
    const storeReached = new Promise<void>((resolve) => {
      this.#onAllReached = resolve;
    });
    const listening = this.#startFrontEnds();
    this.#opening = this.#open();
    const store = await this.#opening;
    setInterval(() => this.#broadcastStats(), statsEveryMs);
    void listening.then(() => this.#scanDiskCache()).then(() => this.#followPurges(store));
    // The front ends listen before the store is available: for health, and for known projects.
    const [{ prepareStore }, { findWorker, recordHeartbeats }] = await Promise.all([
      import('./primary-store.ts'),
      import('../store/heartbeat.ts'),
    ]);
    const firstKey = await prepareStore(store, settings, log, shutdown);
    const message = new StartMessage(settings, firstKey);
    shutdown.add(async () => message.printKey());
    if (!this.#onTerminal) message.printKey();
    // The embedded store uses a lock instead.
    if (settings.mongodbUrl !== null) recordHeartbeats(store.db, 'service');
    this.#metrics.watchWorker(() => findWorker(store.db));
    this.#storePrepared = true;
    this.#supervisor.broadcast({ type: 'store-prepared' });
    await Promise.all([listening, storeReached]);
    log.info({ url: settings.baseUrl, processes: this.#supervisor.size }, 'service ready');
    // Informs `npm start`, which restarts a service that was ready, and ends when a first start fails.
    if (process.connected) process.send?.('ready', undefined, undefined, () => {});
    if (this.#onTerminal) message.print(this.#httpServer);
  }

  /** Makes `GET /api/ready` return 503. Resolves when load balancers have had time to notice. */
  async #announceStop(): Promise<void> {
    const { drainDelayMs } = this.#settings;
    if (drainDelayMs === 0 || this.#supervisor.listening === 0) return;
    this.#log.info({ drainDelayMs }, 'stop announced to load balancers');
    this.#supervisor.announceStop();
    await sleep(drainDelayMs);
  }

  /** Forks the front ends, which load their modules while this process opens the store. */
  #startFrontEnds(): Promise<void> {
    const settings = this.#settings;
    const listening = this.#supervisor
      .start({
        onMessage: (frontEnd, message) => this.#receive(frontEnd, message),
        onEnd: (frontEnd, processId) => {
          this.#stats.delete(frontEnd);
          this.#metrics.end(frontEnd);
          this.#reached.delete(frontEnd);
          this.#checkReached();
          this.#coalescer.forget(frontEnd);
          if (settings.diskCacheBytes > 0) void this.#diskCacheIndex.ended(processId);
        },
        onGiveUp: (reason) => void this.#shutdown.fail(`Giving up on the front end: ${reason}.`),
      })
      .catch(async (error) => {
        // Creating an embedded store must not be interrupted.
        await this.#opening;
        return this.#shutdown.fail(`The service could not start: ${error.message}.`);
      });
    // Registered early, because the service can end before the store is open.
    this.#shutdown.add(() => this.#supervisor.stop());
    return listening;
  }

  /** Opens the store, the disk cache and the operations listener. */
  async #open(): Promise<Store> {
    const settings = this.#settings;
    const shutdown = this.#shutdown;
    // Loaded after forking the front ends.
    const [{ openOwnStore }, { folderErrorText }] = await Promise.all([
      import('./primary-store.ts'),
      import('../store/open-error.ts'),
    ]);
    const store = await openOwnStore(settings, this.#log, shutdown);
    await this.#restoreKnownProjects();
    if (settings.sharedCacheUrl !== null) await this.#openSharedCache(settings.sharedCacheUrl);
    if (settings.diskCacheBytes > 0) {
      await this.#diskCacheIndex.prepare().catch((error) => {
        const reason = folderErrorText(error, settings.dataDir);
        this.#log.error({ err: error }, reason ?? 'disk cache unusable');
      });
    }
    shutdown.add(() => this.#diskCacheIndex.close());
    // End the front ends before closing the store and disk cache that they use.
    shutdown.add(() => this.#supervisor.stop());
    this.#diskSpace.start();
    if (!endsWithTerminal()) process.on('SIGHUP', () => void this.#supervisor.roll());
    this.#metrics.start();
    await this.#metrics.export(this.#log, shutdown);
    const operations = { host: settings.opsHost, port: settings.opsPort ?? defaultOpsPort };
    await startOperations(settings, this.#log, () => this.#metrics.read().metrics()).catch(
      (error: unknown) => this.#failToListen('SERVICE_OPS_PORT', operations, error),
    );
    return store;
  }

  #failToListen(
    variable: 'SERVICE_PORT' | 'SERVICE_OPS_PORT',
    address: { readonly host: string; readonly port: number },
    error: unknown,
  ): Promise<never> {
    const reason = listenFailureText(variable, address, error);
    if (reason !== null) return this.#shutdown.fail(reason);
    return this.#shutdown.fail('The service could not start.', error);
  }

  async #openSharedCache(location: S3Location): Promise<void> {
    const { Bucket } = await import('../pool/s3/bucket.ts');
    const bucket = new Bucket(location);
    this.#bucket = bucket;
    this.#shutdown.add(() => bucket.destroy());
  }

  /** The embedded store starts with this process, so only another store can be unavailable then. */
  async #restoreKnownProjects(): Promise<void> {
    const { mongodbUrl, dataDir, staleProjectsSeconds } = this.#settings;
    if (mongodbUrl === null) return;
    const path = resolve(join(dataDir, 'known-projects'));
    if (staleProjectsSeconds === 0) return rm(path, { force: true });
    const save = await this.#known.keepIn(path, mongodbUrl, (error) =>
      this.#log.error({ err: error }, 'writing known projects failed'),
    );
    this.#shutdown.add(save);
    const { projects } = this.#known.snapshot;
    if (projects.length > 0) {
      this.#log.info({ projects: projects.length }, 'known projects read');
    }
  }

  #receive(frontEnd: number, message: FrontEndMessage): void {
    switch (message.type) {
      case 'stats':
        this.#stats.set(frontEnd, message.stats);
        this.#metrics.report(frontEnd, message.metrics, message.projects);
        this.#known.confirm(message.projectsConfirmedAt ?? 0);
        return;
      case 'started':
        void this.#opening.then(({ url }) => {
          const knownProjects = this.#known.snapshot;
          this.#supervisor.send(frontEnd, { type: 'store-opened', storeUrl: url, knownProjects });
          if (this.#storePrepared) this.#supervisor.send(frontEnd, { type: 'store-prepared' });
        });
        return;
      case 'store-reached':
        this.#reached.add(frontEnd);
        return this.#checkReached();
      case 'project-known':
      case 'project-forgotten':
        if (!this.#known.receive(message) || message.type === 'project-forgotten') return;
        this.#supervisor.broadcast({ type: 'project-changed', id: message.project._id }, frontEnd);
        return;
      case 'disk-cache-changes':
        // First, because an image that was missing is usually stored next.
        for (const key of message.removed) void this.#diskCacheIndex.removed(key);
        for (const [key, bytes] of message.stored) this.#diskCacheIndex.stored(key, bytes);
        for (const key of message.used) this.#diskCacheIndex.used(key);
        return;
      case 'ready':
        this.#recordHttpServer(message.httpServer);
        return;
      default:
        return this.#coalescer.receive(frontEnd, message);
    }
  }

  #checkReached(): void {
    if (this.#reached.size >= this.#supervisor.size) this.#onAllReached();
  }

  /**
   * Warns once about an incomplete installation, or an installation for another Node, which works
   * at half the speed. A terminal shows the warning.
   */
  #recordHttpServer(chosen: ChosenServer): void {
    if (this.#httpServer === null && chosen.because !== undefined && !this.#onTerminal) {
      this.#log.warn(
        { because: chosen.because, node: process.version },
        `uWebSockets.js unavailable; Node's own server serves fewer hits: see ${documentPath('http-engines.md')}, or set SERVICE_HTTP_ENGINE=node`,
      );
    }
    this.#httpServer = chosen;
  }

  async #scanDiskCache(): Promise<void> {
    if (this.#settings.diskCacheBytes === 0) return;
    const index = this.#diskCacheIndex;
    await index.scan();
    this.#log.info({ files: index.count, bytes: index.bytes }, 'disk cache scanned');
  }

  /** Deletes purged images, once the index lists all files. */
  #followPurges(store: Store): void {
    const { signal } = this.#shutdown;
    const onError = async (error: unknown) => {
      // Loaded late, because the primary forks before it loads the driver.
      const { isOutage } = await import('../store/outage.ts');
      if (!isOutage(error)) this.#log.warn({ err: error }, 'reading purges failed');
    };
    const sweep = new Sweep({
      projects: store.projects,
      index: this.#diskCacheIndex,
      bucket: this.#bucket,
      log: this.#log,
      signal,
      onError,
    });
    this.#metrics.sweep = sweep;
    void sweep.follow();
  }

  #broadcastStats(): void {
    const frontEnds: Record<number, FrontEndStats> = {};
    for (const [frontEnd, stats] of this.#stats) {
      frontEnds[this.#supervisor.findPid(frontEnd) ?? 0] = stats;
    }
    const { bytes: diskBytes, maxBytes: diskMaxBytes } = this.#diskCacheIndex;
    const stats = { frontEnds, diskBytes, diskMaxBytes, diskShortage: this.#diskSpace.shortage };
    this.#supervisor.broadcast({ type: 'machine-stats', stats });
  }
}
