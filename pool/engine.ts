import { setMaxListeners } from 'node:events';
import { ServiceError } from '../contract/errors.ts';
import {
  type CachedImage,
  type ImageCacheSettings,
  ImageCaches,
  type ImageCachesEnvironment,
} from './cache/image-caches.ts';
import { Cancelled, type Coalescer, type Leader, type Role } from './coalescer.ts';
import { FairShare, type Owner } from './fair-share.ts';
import type { FreshnessBounds, FreshnessReport } from './freshness.ts';
import type { ImageRequest, Miss, Timings } from './miss.ts';
import { tooManyTransforms } from './overloaded.ts';
import { type LayerInput, Producer, type ProducerSettings } from './producer.ts';
import { Revalidator } from './revalidator.ts';
import { SingleFlight } from './single-flight.ts';
import type { Sources } from './source/sources.ts';
import { runStage } from './stages.ts';

export type { ImageRequest, Timings } from './miss.ts';

export type EngineSettings = ImageCacheSettings & FreshnessBounds & ProducerSettings;

export interface CacheResult extends CachedImage {
  /** Set only if this request rendered the image. */
  readonly timings?: Timings;
  /** True if the image is the request's provisional image. */
  readonly isProvisional?: boolean;
  /** Absent if the request does not track freshness. */
  readonly freshness?: FreshnessReport;
}

export interface EngineEnvironment extends ImageCachesEnvironment {
  readonly coalescer: Coalescer;
  /** Called when a render starts and when it succeeds. */
  readonly onRender: (event: 'started' | 'done', key: string, timings: Timings) => void;
}

/**
 * Limit on background renders after provisional responses. Each holds its sources, and live
 * requests need memory too. The next request for a skipped image retries it.
 */
const maxDeferredRenders = 32;
const guaranteedDeferredRenders = 2;

/**
 * Maximum misses in progress. Fetches and transforms have separate limits; this limit bounds
 * requests that wait for the same source, at a few kilobytes each.
 */
const maxMisses = 2_048;
const guaranteedMisses = 32;

/** Serves images from the caches and renders missing images. */
export class Engine {
  readonly caches: ImageCaches;
  readonly sources: Sources;
  readonly #producer: Producer;
  readonly #revalidator: Revalidator;
  readonly #misses = new SingleFlight<string, CacheResult>();
  readonly #missQuota = new FairShare(maxMisses, guaranteedMisses);
  readonly #deferredRenderQuota = new FairShare(maxDeferredRenders, guaranteedDeferredRenders);
  readonly #closing = new AbortController();
  /** Requests that waited for a render in this process, or in another process on this machine. */
  readonly #followers = { process: 0, machine: 0 };
  /** Requests refused because the transform queue is full. */
  #refusedByQueue = 0;
  readonly #environment: EngineEnvironment;

  constructor(settings: EngineSettings, environment: EngineEnvironment) {
    this.#environment = environment;
    // Each background render adds an abort listener.
    setMaxListeners(0, this.#closing.signal);
    this.caches = new ImageCaches(settings, environment, (request) =>
      this.#revalidator.states(request),
    );
    this.#revalidator = new Revalidator({
      caches: this.caches,
      coalescer: environment.coalescer,
      bounds: settings,
      revalidate: (...question) => this.#producer.revalidate(...question),
      now: environment.now,
    });
    this.#producer = new Producer(settings, this.#revalidator, environment.now);
    this.sources = this.#producer.sources;
  }

  /**
   * Fetches and decodes a layer at background priority.
   *
   * @throws ServiceError as for a source; overloaded if live requests leave no time for the check;
   *   the signal's reason if aborted
   */
  checkLayer(layer: LayerInput, signal: AbortSignal): Promise<void> {
    return this.#producer.checkLayer(layer, signal);
  }

  stats() {
    const transforms = this.#producer.transforms.stats();
    const sources = this.sources.stats();
    const refusals = {
      /** Too many misses in progress. */
      misses: this.#missQuota.rejected,
      /** Transform queue full, or the wait in it too long. */
      queue: this.#refusedByQueue + transforms.rejected,
      /** Too many fetches in flight. */
      fetches: sources.rejected,
      /** Too many source bytes in memory. */
      heldBytes: sources.heldRejected,
    };
    return {
      ...this.caches.stats(),
      /** Misses in progress. */
      misses: this.#misses.size,
      followers: { ...this.#followers },
      /** Source revalidations, by the origin's response. */
      revalidations: { ...this.#revalidator.outcomes },
      /** Requests refused as overloaded, by exhausted limit. */
      refusals,
      refused: Object.values(refusals).reduce((sum, count) => sum + count),
      transforms,
      sources,
    };
  }

  /**
   * Returns the image for a cache key. The caller must have checked that the project can use the
   * source.
   *
   * A miss takes these steps; any of them can end it with an image:
   *
   * 1. `#following` revalidates inputs that are too old.
   * 2. `#get` reads memory, joins the same miss if it is in progress, or admits a new miss.
   * 3. `#miss` reads the disk.
   * 4. `#lead` reads the disk again if another process might have stored the image since, then the
   *   shared cache; `Producer.produce` fetches the inputs and transforms.
   * 5. The caches are written, then followers in other processes are notified.
   *
   * A request with a provisional image gets that image through the same steps unless the requested
   * image is cached; `renderInBackground` then renders the requested image.
   *
   * @param signal aborts when the client leaves
   * @throws ServiceError, with detail `layer` if a layer is unusable; or the signal's reason
   */
  async get(request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    const { provisional } = request;
    if (provisional === null) {
      return this.#following(request, signal, (following) => this.#get(following, signal));
    }
    const cached = await this.#following(request, signal, (following) =>
      this.#find(following, signal),
    );
    if (cached !== null) return cached;
    const result = await this.get({ ...request, ...provisional, provisional: null }, signal);
    return { ...result, isProvisional: true };
  }

  /**
   * Renders the requested image in the background, after its request received a provisional image.
   * Skips it if that render, or too many background renders, are in progress.
   *
   * @throws ServiceError
   */
  async renderInBackground(request: ImageRequest): Promise<void> {
    const owner = toOwner(request);
    if (this.#misses.has(request.key) || !this.#deferredRenderQuota.take(owner, 1)) return;
    const { signal } = this.#closing;
    try {
      await this.get({ ...request, provisional: null, background: true }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#deferredRenderQuota.release(owner, 1);
    }
  }

  /** Calls `get` once the image's followed inputs are known and fresh enough. */
  async #following<R extends CacheResult | null>(
    wanted: ImageRequest,
    signal: AbortSignal,
    get: (request: ImageRequest) => Promise<R>,
  ): Promise<R> {
    const { freshness } = wanted;
    if (freshness === null) return get(wanted);
    const { caches } = this;
    const request = { ...wanted, freshness };
    await this.#revalidator.check(request, signal);
    let result = await get(request);
    // We joined a render that started before the source changed.
    if (result !== null && !caches.isValid(result.image, request)) result = await get(request);
    if (result === null) return result;
    if (result.tier !== 'miss') this.#revalidator.refresh(request);
    return { ...result, freshness: this.#revalidator.report(request, result.image) };
  }

  async #find(request: ImageRequest, signal: AbortSignal): Promise<CacheResult | null> {
    const { caches } = this;
    return (
      caches.readMemory(request) ??
      (await caches.readDisk(request)) ??
      (await caches.readShared(request, signal))
    );
  }

  async #get(request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    signal.throwIfAborted();
    const { key, flight = key, background, project, stages } = request;
    const inMemory = this.caches.readMemory(request);
    if (inMemory !== null) return inMemory;
    // Joining makes background work live, and live work needs a queue slot.
    if (!background && this.#misses.isBackground(flight)) this.#requireQueueSlot(project);
    const joined = this.#misses.join(flight, signal, background);
    if (joined !== null) {
      this.#followers.process += 1;
      const join = () => joined;
      return runStage(stages, 'coalesce', join, () => ({ role: 'follower' }));
    }
    // A full queue refuses a miss here only if no cache can contain the image.
    const isFull = !background && this.#producer.transforms.isFull(project);
    if (isFull && !this.caches.mightContain(key)) this.#requireQueueSlot(project);
    const owner = toOwner(request);
    if (!this.#missQuota.take(owner, 1)) throw tooManyTransforms;
    return this.#misses.run(
      flight,
      (shared, urgency) =>
        this.#miss({ request, signal: shared, urgency, timings: {} }).finally(() =>
          this.#missQuota.release(owner, 1),
        ),
      signal,
      background,
    );
  }

  /** Reads the disk, then leads for this key on this machine or follows the current leader. */
  async #miss(miss: Miss): Promise<CacheResult> {
    const { request } = miss;
    const onDisk = await this.caches.readDisk(request);
    if (onDisk !== null) return onDisk;
    // Require a queue slot after the disk read, because a full queue must not refuse hits and a miss
    // costs only a failed `open`, but before the messages to the primary and the fetch, which a
    // refusal would waste. With a shared cache, `#produce` requires the slot after the leader's read:
    // a full queue must not refuse those hits either.
    if (this.caches.shared === null && miss.urgency.isLive) this.#requireQueueSlot(request.project);
    const role = await this.#join(miss);
    if (role.role === 'leader') return this.#lead(miss, role);
    this.#followers.machine += 1;
    if (!('body' in role.result)) throw new Error("a source's state instead of an image");
    return this.caches.keep(request, role.result, 'miss');
  }

  async #lead(miss: Miss, role: Leader): Promise<CacheResult> {
    const { request, signal } = miss;
    try {
      const result =
        (role.mayBeStored ? await this.caches.readDisk(request) : null) ??
        (await this.caches.readShared(request, signal)) ??
        (await this.#produce(miss));
      // Followers in other processes wait for the disk write. This response does not, unless it is
      // a prewarm request: after it, every process must find the image.
      const written = this.caches.write(request, result);
      const followersNotified = written.then(() => role.succeed(result.image));
      if (!miss.urgency.isLive) await followersNotified;
      return result;
    } catch (error) {
      const cancelled = signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  async #produce(miss: Miss): Promise<CacheResult> {
    const { request, timings, urgency } = miss;
    this.#producer.requireUsableLayers(request);
    if (this.caches.shared !== null && urgency.isLive) this.#requireQueueSlot(request.project);
    const endRender = await request.admitRender();
    try {
      const { onRender } = this.#environment;
      onRender('started', request.key, {});
      const image = await this.#producer.produce(miss);
      onRender('done', request.key, timings);
      return { ...this.caches.keep(request, image, 'miss'), timings };
    } finally {
      endRender();
    }
  }

  /** @throws ServiceError overloaded if a live transform would be refused */
  #requireQueueSlot(project: string): void {
    if (!this.#producer.transforms.isFull(project)) return;
    this.#refusedByQueue += 1;
    throw tooManyTransforms;
  }

  #join({ request, signal, urgency }: Miss): Promise<Role> {
    const { key, flight = key, project } = request;
    const participant = {
      live: urgency.isLive,
      signal,
      retain: () => this.#misses.retain(flight),
      promote: () => {
        // While the queue is full, followers keep waiting for the background work.
        if (!this.#producer.transforms.isFull(project)) this.#misses.promote(flight);
      },
    };
    const join = () => this.#environment.coalescer.join(flight, participant);
    return runStage(request.stages, 'coalesce', join, ({ role }) => ({ role }));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Cancelled());
    this.#revalidator.close();
    await Promise.all([this.#producer.close(), this.caches.close()]);
  }
}

const toOwner = ({ project, inputs: [source] }: ImageRequest): Owner => ({
  project,
  host: source.url.host,
});
