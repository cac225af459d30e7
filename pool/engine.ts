import { setMaxListeners } from 'node:events';
import { ServiceError } from '../contract/errors.ts';
import {
  type CachedImage,
  ImageCaches,
  type ImageCachesEnvironment,
} from './cache/image-caches.ts';
import { FairShare, type Owner } from './fair-share.ts';
import type { FreshnessReport } from './freshness.ts';
import type { LayerInput } from './layer-failures.ts';
import { Admission, type ImageRequest, Miss, type Timings } from './miss.ts';
import { Producer } from './producer.ts';
import { Revalidator } from './revalidator.ts';
import type { EngineSettings } from './settings.ts';
import {
  Cancelled,
  type Coalescer,
  type Leader,
  type Role,
  SingleFlight,
} from './single-flight.ts';
import type { Sources } from './source/sources.ts';
import { runStage } from './stages.ts';

export type { ImageRequest, Timings } from './miss.ts';

export interface CacheResult extends CachedImage {
  /** Of a render for this request. */
  readonly timings?: Timings;
  /** True for the provisional image of the request. */
  readonly isProvisional?: boolean;
  /** Absent for a request without `freshness`. */
  readonly freshness?: FreshnessReport;
}

export interface EngineEnvironment extends ImageCachesEnvironment {
  readonly coalescer: Coalescer;
  /** Called when a render begins and when it succeeds. */
  readonly onRender: (event: 'begun' | 'done', key: string, timings: Timings) => void;
}

/**
 * Maximum renders in progress that no request waits for: they hold their sources, and live requests need memory too. A
 * later request repeats a skipped one.
 */
const maxLater = 32;
const guaranteedLater = 2;

/** Returns images from the caches, and renders those that none has. */
export class Engine {
  readonly caches: ImageCaches;
  readonly sources: Sources;
  readonly #producer: Producer;
  readonly #revalidator: Revalidator;
  readonly #misses = new SingleFlight<string, CacheResult>();
  readonly #admission: Admission;
  readonly #laterShare = new FairShare(maxLater, guaranteedLater);
  readonly #closing = new AbortController();
  /** Total requests that waited for a render of this process, or of another one of this machine. */
  readonly #followers = { process: 0, machine: 0 };
  readonly #environment: EngineEnvironment;

  constructor(settings: EngineSettings, environment: EngineEnvironment) {
    this.#environment = environment;
    // Every render that no request waits for listens.
    setMaxListeners(0, this.#closing.signal);
    this.caches = new ImageCaches(settings, environment, (request) =>
      this.#revalidator.states(request),
    );
    this.#revalidator = new Revalidator({
      caches: this.caches,
      coalescer: environment.coalescer,
      bounds: settings.freshness,
      ask: (...question) => this.#producer.revalidate(...question),
      now: environment.now,
    });
    this.#producer = new Producer(settings, this.#revalidator, environment.now);
    this.sources = this.#producer.sources;
    this.#admission = new Admission(this.#producer.transforms);
  }

  /**
   * Fetches and decodes a layer, with the priority of background miss.
   *
   * @throws ServiceError as for a source, `overloaded` when live requests left no time for the check, or
   *   the signal's reason
   */
  checkLayer(layer: LayerInput, signal: AbortSignal): Promise<void> {
    return this.#producer.checkLayer(layer, signal);
  }

  stats() {
    const transforms = this.#producer.transforms.stats();
    const sources = this.sources.stats();
    const { misses, queue } = this.#admission.refused;
    const refusals = {
      /** Misses in progress. */
      misses,
      /** Places in the transform queue, or the time that a transform may wait there. */
      queue: queue + transforms.rejected,
      /** Fetches in flight. */
      fetches: sources.rejected,
      /** Bytes of sources in memory. */
      heldBytes: sources.heldRejected,
    };
    return {
      ...this.caches.stats(),
      /** Misses in progress. */
      misses: this.#misses.size,
      followers: { ...this.#followers },
      /** Total revalidations of sources, by the origin's answer. */
      revalidations: { ...this.#revalidator.outcomes },
      /** Total requests refused as `overloaded`, by the exhausted limit. */
      refusals,
      refused: Object.values(refusals).reduce((sum, count) => sum + count),
      transforms,
      sources,
    };
  }

  /**
   * The image of a cache key. The caller must have checked that the project may use the source.
   *
   * A miss passes these steps, of which each may end it with an image:
   *
   * 1. `#following`: the origins of inputs that are too old are asked whether they have changed
   * 2. `#get`: memory; the same miss that is in progress; the permit
   * 3. `#miss`: the disk
   * 4. `#lead`: the shared cache; `Producer.produce`: the fetches of the inputs, and the transform
   * 5. the caches, then the followers in other processes
   *
   * A request with a provisional image gets that one by the same steps, unless a cache has its own; `renderLater`
   * renders it then.
   *
   * @param signal aborts when the client leaves
   * @throws ServiceError, with the detail `layer` when one of the layers cannot be used; or the signal's reason
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
   * Renders the image of a request that got its provisional one, as background work; not if it is in progress, or too
   * many are.
   *
   * @throws ServiceError
   */
  async renderLater(request: ImageRequest): Promise<void> {
    const owner = ownerOf(request);
    if (this.#misses.has(request.key) || !this.#laterShare.take(owner, 1)) return;
    const { signal } = this.#closing;
    try {
      await this.get({ ...request, provisional: null, background: true }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#laterShare.release(owner, 1);
    }
  }

  /** Calls `get` when the inputs that the image follows are known and not too old. */
  async #following<R extends CacheResult | null>(
    wanted: ImageRequest,
    signal: AbortSignal,
    get: (request: ImageRequest) => Promise<R>,
  ): Promise<R> {
    const { freshness } = wanted;
    if (freshness === null) return get(wanted);
    const { caches } = this;
    const request = { ...wanted, freshness, sharedWait: caches.shared?.wait };
    await this.#revalidator.check(request, signal);
    let result = await get(request);
    // It was a render of older bytes that had begun before.
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
    const { key, background, project, stages } = request;
    const inMemory = this.caches.readMemory(request);
    if (inMemory !== null) return inMemory;
    // Work in the background becomes live with this request, and then needs a place.
    if (!background && this.#misses.isBackground(key)) this.#admission.requirePlace(project);
    const joined = this.#misses.join(key, signal, background);
    if (joined !== null) {
      this.#followers.process += 1;
      const join = () => joined;
      return runStage(stages, 'coalesce', join, () => ({ role: 'follower' }));
    }
    const isFull = !background && this.#admission.isFull(project);
    if (isFull && !this.caches.mayHave(key)) this.#admission.requirePlace(project);
    const permit = this.#admission.admit(ownerOf(request));
    const begin = (shared: AbortSignal, promoted: AbortSignal) =>
      this.#miss(new Miss(request, shared, promoted, permit)).finally(() => permit.release());
    return this.#misses.run(key, begin, signal, background);
  }

  /** Reads the disk, then leads for the key among the processes of the machine, or follows the one that leads. */
  async #miss(miss: Miss): Promise<CacheResult> {
    const { request } = miss;
    const onDisk = await this.caches.readDisk(request);
    if (onDisk !== null) return onDisk;
    // Before the messages to the primary and the fetch, which a refusal would waste. After the disk read,
    // because a full queue must not refuse hits, and an absent file costs one failed `open`. For the same reason
    // after the read of the shared cache, which waits for the network, and only in the process that leads.
    if (this.caches.shared === null) this.#requirePlace(miss);
    const role = await this.#join(miss);
    if (role.role === 'leader') return this.#lead(miss, role);
    this.#followers.machine += 1;
    return this.caches.keep(request, role.image, 'miss');
  }

  async #lead(miss: Miss, role: Leader): Promise<CacheResult> {
    const { request, signal } = miss;
    try {
      const result =
        (role.mayBeStored ? await this.caches.readDisk(request) : null) ??
        (await this.caches.readShared(request, signal)) ??
        (await this.#produce(miss));
      // Followers in other processes must wait for the disk write; this response need not, unless it is that of
      // a prewarming, after which every process must find the image.
      const written = this.caches.write(request, result);
      const told = written.then(() => role.succeed(result.image));
      if (!miss.isLive) await told;
      return result;
    } catch (error) {
      const cancelled = signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  async #produce(miss: Miss): Promise<CacheResult> {
    const { request, permit, timings } = miss;
    this.#requirePlace(miss);
    await permit.beginRender(request);
    const { onRender } = this.#environment;
    onRender('begun', request.key, {});
    const image = await this.#producer.produce(miss);
    onRender('done', request.key, timings);
    return { ...this.caches.keep(request, image, 'miss'), timings };
  }

  /** @throws ServiceError overloaded, or that of a layer that could not be used recently */
  #requirePlace({ request, permit, isLive }: Miss): void {
    permit.enterQueue(request.project, isLive);
    this.#producer.requireUsableLayers(request);
  }

  #join({ request, signal, isLive }: Miss): Promise<Role> {
    const { key, project } = request;
    const participant = {
      live: isLive,
      signal,
      retain: () => this.#misses.retain(key),
      promote: () => {
        // While the queue is full, the followers wait for the work in the background.
        if (!this.#admission.isFull(project)) this.#misses.promote(key);
      },
    };
    const join = () => this.#environment.coalescer.join(key, participant);
    return runStage(request.stages, 'coalesce', join, ({ role }) => ({ role }));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Cancelled());
    this.#revalidator.close();
    await Promise.all([this.#producer.close(), this.caches.close()]);
  }
}

const ownerOf = ({ project, inputs: [source] }: ImageRequest): Owner => ({
  project,
  host: source.url.host,
});
