import { setMaxListeners } from 'node:events';
import { ServiceError } from '../contract/errors.ts';
import { Admission, type Permit } from './admission.ts';
import {
  type CachedImage,
  ImageCaches,
  type ImageCachesEnvironment,
} from './cache/image-caches.ts';
import { Cancelled, type Coalescer, type Leader, type Role } from './coalescer.ts';
import { FairShare } from './fair-share.ts';
import type { FreshnessReport } from './freshness.ts';
import type { LayerInput } from './layer-failures.ts';
import {
  type ImageRequest,
  isLive,
  type KnownRequest,
  type Miss,
  Producer,
  type Timings,
} from './producer.ts';
import { type FollowingRequest, Revalidator } from './revalidator.ts';
import type { EngineSettings } from './settings.ts';
import { SingleFlight } from './single-flight.ts';
import type { AddressGuard } from './source/guard.ts';
import { noObserver, runStage } from './stages.ts';
import { isUpToDate } from './validity.ts';

export type { ImageRequest, Timings } from './producer.ts';

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
    this.caches = new ImageCaches(settings, environment);
    this.#producer = new Producer(settings, environment.now);
    this.#admission = new Admission(this.#producer.transforms);
    this.#revalidator = new Revalidator({
      caches: this.caches,
      coalescer: environment.coalescer,
      bounds: settings.freshness,
      ask: (...question) => this.#producer.revalidate(...question),
      now: environment.now,
    });
  }

  /** The guard that every source fetch passes. */
  get guard(): AddressGuard {
    return this.#producer.sources.guard;
  }

  /** True when a CDN-Loop header shows that a source fetch of this deployment caused the request. */
  isOwnFetch(cdnLoop: string): boolean {
    return this.#producer.sources.isOwnFetch(cdnLoop);
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
    const sources = this.#producer.sources.stats();
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
   * 1. `#getFollowing`: the origins of inputs that are too old are asked whether they have changed
   * 2. `#get`: memory; the same miss that is in progress; the permit
   * 3. `#miss`: the disk
   * 4. `#lead`: the shared cache; `Producer.produce`: the fetches of the inputs, and the transform
   * 5. the caches, then the followers in other processes
   *
   * A request with a provisional image gets that one by the same steps, unless a cache has its own; `renderLater`
   * renders it then.
   *
   * @throws ServiceError, with the detail `layer` when one of the layers cannot be used; or the signal's reason
   */
  async get(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    const { provisional = null } = request;
    const get = (known: KnownRequest) => this.#get(key, known, signal);
    if (provisional === null) return this.#withStates(request, signal, get);
    const cached = await this.#withStates(request, signal, (known) =>
      this.#find(key, known, signal),
    );
    if (cached !== null) return cached;
    const { variant } = provisional;
    const first = { ...request, variant, provisional: null };
    const result = await this.get(provisional.key, first, signal);
    return { ...result, isProvisional: true };
  }

  /**
   * Renders the image of a request that got its provisional one, as background work; not if it is in progress, or too
   * many are.
   *
   * @throws ServiceError
   */
  async renderLater(key: string, request: ImageRequest): Promise<void> {
    const { project, inputs } = request;
    const owner = { project, host: inputs[0].url.host };
    if (this.#misses.has(key) || !this.#laterShare.take(owner, 1)) return;
    const { signal } = this.#closing;
    try {
      await this.get(key, { ...request, provisional: null, background: true }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#laterShare.release(owner, 1);
    }
  }

  /** Calls `get` with what is known of the inputs that the image follows, if it follows them. */
  async #withStates<R extends CacheResult | null>(
    wanted: ImageRequest,
    signal: AbortSignal,
    get: (known: KnownRequest) => Promise<R>,
  ): Promise<R> {
    if (!followsInputs(wanted)) return get({ ...wanted, ...withoutStates });
    const revalidator = this.#revalidator;
    const { shared } = this.caches;
    // Limits all waits of a request for the shared cache together.
    const request: FollowingRequest =
      shared === null ? wanted : { ...wanted, sharedWait: shared.wait };
    await revalidator.check(request, signal);
    const states = () => revalidator.states(request);
    const onFetched: KnownRequest['onFetched'] = (leases) => revalidator.fetched(request, leases);
    const following = { ...request, states, onFetched };
    let result = await get(following);
    if (result === null) return result;
    // It was a render of older bytes that had begun before.
    if (!isUpToDate(result.image, states(), this.#environment.now())) result = await get(following);
    if (result === null) return result;
    if (result.tier !== 'miss') revalidator.refresh(request);
    return { ...result, freshness: revalidator.report(request, result.image) };
  }

  /** The image of a cache. */
  async #find(
    key: string,
    request: KnownRequest,
    signal: AbortSignal,
  ): Promise<CacheResult | null> {
    const { caches } = this;
    return (
      caches.readMemory(key, request) ??
      (await caches.readDisk(key, request)) ??
      (await caches.readShared(key, request, signal))
    );
  }

  async #get(key: string, request: KnownRequest, signal: AbortSignal): Promise<CacheResult> {
    signal.throwIfAborted();
    const { background, project, stages = noObserver } = request;
    const inMemory = this.caches.readMemory(key, request);
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
    const permit = this.#admission.admit({ project, host: request.inputs[0].url.host });
    const begin = (shared: AbortSignal, promoted: AbortSignal) =>
      this.#miss(key, { ...request, signal: shared, promoted }, permit).finally(() =>
        permit.release(),
      );
    return this.#misses.run(key, begin, signal, background);
  }

  /** Reads the disk, then leads for the key among the processes of the machine, or follows the one that leads. */
  async #miss(key: string, miss: Miss, permit: Permit): Promise<CacheResult> {
    const onDisk = await this.caches.readDisk(key, miss);
    if (onDisk !== null) return onDisk;
    // Before the messages to the primary and the fetch, which a refusal would waste. After the disk read,
    // because a full queue must not refuse hits, and an absent file costs one failed `open`. For the same reason
    // after the read of the shared cache, which waits for the network, and only in the process that leads.
    if (this.caches.shared === null) this.#requirePermit(permit, miss);
    const role = await this.#join(key, miss);
    if (role.role === 'leader') return this.#lead(key, miss, permit, role);
    this.#followers.machine += 1;
    return this.caches.keep(key, role.image, 'miss', miss);
  }

  async #lead(key: string, miss: Miss, permit: Permit, role: Leader): Promise<CacheResult> {
    try {
      const result =
        (role.mayBeStored ? await this.caches.readDisk(key, miss) : null) ??
        (await this.caches.readShared(key, miss, miss.signal)) ??
        (await this.#produce(key, miss, permit));
      // Followers in other processes must wait for the disk write; this response need not, unless it is that of
      // a prewarming, after which every process must find the image.
      const written = this.caches.write(key, result, miss);
      const told = written.then(() => role.succeed(result.image));
      if (!isLive(miss)) await told;
      return result;
    } catch (error) {
      const cancelled = miss.signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  async #produce(key: string, miss: Miss, permit: Permit): Promise<CacheResult> {
    this.#requirePermit(permit, miss);
    await permit.beginRender(miss.admitRender);
    this.#environment.onRender('begun', key, {});
    const { image, timings } = await this.#producer.produce(miss, () => permit.leaveQueue());
    this.#environment.onRender('done', key, timings);
    return { ...this.caches.keep(key, image, 'miss', miss), timings };
  }

  /** @throws ServiceError overloaded, or that of a layer that could not be used recently */
  #requirePermit(permit: Permit, miss: Miss): void {
    permit.enterQueue(miss.project, isLive(miss));
    this.#producer.requireUsableLayers(miss);
  }

  #join(key: string, miss: Miss): Promise<Role> {
    const participant = {
      live: isLive(miss),
      signal: miss.signal,
      retain: () => this.#misses.retain(key),
      promote: () => {
        // While the queue is full, the followers wait for the work in the background.
        if (!this.#admission.isFull(miss.project)) this.#misses.promote(key);
      },
    };
    const { stages = noObserver } = miss;
    const join = () => this.#environment.coalescer.join(key, participant);
    return runStage(stages, 'coalesce', join, ({ role }) => ({ role }));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Cancelled());
    this.#revalidator.close();
    await Promise.all([this.#producer.close(), this.caches.close()]);
  }
}

const withoutStates = { states: () => [], onFetched: () => {} };

function followsInputs(request: ImageRequest): request is FollowingRequest {
  return request.freshness != null;
}
