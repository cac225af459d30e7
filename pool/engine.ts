import { ServiceError } from '../contract/errors.ts';
import { Admission, type Permit } from './admission.ts';
import { DiskCache, type DiskCacheEvents } from './cache/disk.ts';
import { MemoryCache, type MemoryEntry } from './cache/memory.ts';
import { SharedCache, type SharedCacheEnvironment } from './cache/shared-cache.ts';
import { Cancelled, type Coalescer, type Role } from './coalescer.ts';
import type { FreshnessReport } from './freshness.ts';
import type { Image, Provenance } from './image.ts';
import type { LayerInput } from './layer-failures.ts';
import { type ImageRequest, isLive, Producer, type Timings, type Work } from './producer.ts';
import { type FollowingRequest, Revalidator } from './revalidator.ts';
import type { EngineSettings } from './settings.ts';
import { SingleFlight } from './single-flight.ts';
import type { AddressGuard } from './source/guard.ts';
import { noObserver, runStage } from './stages.ts';
import type { ImageTier } from './tiers.ts';
import { flightKey, isUpToDate, isValid, provenanceOf, type StoredImage } from './validity.ts';

export type { ImageRequest, Timings } from './producer.ts';

/** An image and the cache tier that it came from. */
export interface CacheResult {
  readonly image: Image;
  /** Null when the image is too large for the memory cache, or the cache is disabled. */
  readonly entry: MemoryEntry | null;
  /** An image received as a follower counts as a miss. */
  readonly tier: ImageTier;
  readonly timings: Timings;
  /** Absent for a request without `freshness`. */
  readonly freshness?: FreshnessReport;
}

export interface EngineEnvironment extends SharedCacheEnvironment {
  readonly coalescer: Coalescer;
  readonly disk: DiskCacheEvents;
  /** Called for memory cache hits, at most once a second for each key. */
  readonly onMemoryHit: (key: string) => void;
  /** Called when a render begins and when it succeeds. */
  readonly onRender: (event: 'begun' | 'done', key: string, timings: Timings) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** Returns images from the caches, in memory, on the disk or shared, and renders those that none has. */
export class Engine {
  readonly #memory: MemoryCache;
  readonly #disk: DiskCache | null;
  readonly #shared: SharedCache | null;
  readonly #producer: Producer;
  readonly #revalidator: Revalidator;
  readonly #misses = new SingleFlight<string, CacheResult>();
  readonly #admission: Admission;
  /** Total requests that waited for a render of this process, or of another one of this machine. */
  readonly #followers = { process: 0, machine: 0 };
  readonly #environment: EngineEnvironment;
  /** False stops writes to the disk cache. Reads continue. */
  writesToDisk = true;

  constructor(settings: EngineSettings, environment: EngineEnvironment) {
    const { memoryCacheBytes, diskCacheFolder, sharedCache } = settings;
    this.#environment = environment;
    this.#memory = new MemoryCache(memoryCacheBytes, environment.onMemoryHit);
    this.#disk = diskCacheFolder === null ? null : new DiskCache(diskCacheFolder, environment.disk);
    this.#shared = sharedCache && new SharedCache(sharedCache, environment);
    this.#producer = new Producer(settings, environment.now);
    this.#admission = new Admission(this.#producer.transforms);
    const disk = this.#disk;
    this.#revalidator = new Revalidator({
      caches: {
        disk: disk && {
          read: (...file) => disk.read(...file),
          write: async (...file) => void (this.writesToDisk && (await disk.write(...file))),
        },
        shared: this.#shared,
      },
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
   * Fetches and decodes a layer, with the priority of background work.
   *
   * @throws ServiceError as for a source, `overloaded` when live requests left no time for the check, or
   *   the signal's reason
   */
  checkLayer(layer: LayerInput, signal: AbortSignal): Promise<void> {
    return this.#producer.checkLayer(layer, signal);
  }

  /** Counts a memory cache hit for an entry that the caller has kept. `now` is Unix ms. */
  touch(entry: MemoryEntry, now: number): void {
    this.#memory.touch(entry, now);
  }

  /** Deletes purged images from memory. The primary deletes those on disk. */
  purge(isPurged: (provenance: Provenance) => boolean): void {
    this.#memory.purge(isPurged);
  }

  stats() {
    const { bytes, maxBytes, count, evictions } = this.#memory;
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
      memory: { bytes, maxBytes, count, evictions },
      /** Null without a shared cache. */
      shared: this.#shared?.stats() ?? null,
      /** Misses in progress. */
      misses: this.#misses.size,
      followers: { ...this.#followers },
      /** Total revalidations of sources, by the origin's answer. */
      revalidations: { ...this.#revalidator.answers },
      /** Total requests refused as `overloaded`, by the exhausted limit. */
      refusals,
      refused: Object.values(refusals).reduce((sum, count) => sum + count),
      transforms,
      sources,
    };
  }

  /**
   * The image of a cache key. The caller must have checked that the project may use the source.
   * @throws ServiceError, with the detail `layer` when one of the layers cannot be used; or the signal's reason
   */
  async get(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    if (followsInputs(request))
      return this.#getFollowing(key, this.#withSharedWait(request), signal);
    return this.#get(key, { ...request, ...withoutStates }, signal);
  }

  /** The image of a project whose images follow their inputs. */
  async #getFollowing(
    key: string,
    request: FollowingRequest,
    signal: AbortSignal,
  ): Promise<CacheResult> {
    const revalidator = this.#revalidator;
    await revalidator.check(request, signal);
    const states = () => revalidator.states(request);
    const onFetched: Work['onFetched'] = (leases) => revalidator.fetched(request, leases);
    const following = { ...request, states, onFetched };
    let result = await this.#get(key, following, signal);
    // It was a render of older bytes that had begun before.
    if (!isUpToDate(result.image, states(), this.#environment.now()))
      result = await this.#get(key, following, signal);
    if (result.tier !== 'miss') revalidator.refresh(request);
    return { ...result, freshness: revalidator.report(request, result.image) };
  }

  async #get(key: string, request: KnownRequest, signal: AbortSignal): Promise<CacheResult> {
    signal.throwIfAborted();
    const { background, project, stages = noObserver } = request;
    const flight = flightKey(key, request.purges);
    const entry = this.#readMemory(key, request);
    if (entry !== null) return { image: entry.image, entry, tier: 'memory', timings: {} };
    // Work in the background becomes live with this request, and then needs a place.
    if (!background && this.#misses.isBackground(flight)) this.#admission.requirePlace(project);
    const joined = this.#misses.join(flight, signal, background);
    if (joined !== null) {
      this.#followers.process += 1;
      return runStage(
        stages,
        'coalesce',
        () => joined,
        () => ({ role: 'follower' }),
      );
    }
    const isFull = !background && this.#admission.isFull(project);
    if (isFull && !this.#mayBeStored(key)) this.#admission.requirePlace(project);
    const permit = this.#admission.admit({ project, host: request.inputs[0].url.host });
    const miss = (work: AbortSignal, promoted: AbortSignal) =>
      this.#miss(key, { ...request, signal: work, promoted }, permit).finally(() =>
        permit.release(),
      );
    return this.#misses.run(flight, miss, signal, background);
  }

  async close(): Promise<void> {
    this.#revalidator.close();
    await Promise.all([this.#producer.close(), this.#disk?.settle(), this.#shared?.close()]);
  }

  /**
   * Whether a cache may have an image that memory has not. The look for the file does not wait for a thread of libuv:
   * with it a refusal takes 0.75 of the CPU time. The shared cache may have every image.
   */
  #mayBeStored(key: string): boolean {
    return this.#shared !== null || this.#disk?.has(key) === true;
  }

  async #miss(key: string, work: Work, permit: Permit): Promise<CacheResult> {
    const stored = await this.#readDisk(key, work);
    if (stored !== null) return stored;
    // Before the messages to the primary and the fetch, which a refusal would waste. After the disk read,
    // because a full queue must not refuse hits, and an absent file costs one failed `open`. For the same reason
    // after the read of the shared cache, which waits for the network, and only in the process that leads.
    if (this.#shared === null) this.#requirePermit(permit, work);
    return this.#coalesce(key, work, permit);
  }

  /** @throws ServiceError overloaded, or that of a layer that could not be used recently */
  #requirePermit(permit: Permit, work: Work): void {
    permit.enterQueue(work.project, isLive(work));
    this.#producer.requireUsableLayers(work);
  }

  /** Single flight across processes: leads for the key, or receives the image as a follower. */
  async #coalesce(key: string, work: Work, permit: Permit): Promise<CacheResult> {
    const role = await this.#join(key, work);
    if (role.role === 'follower') {
      this.#followers.machine += 1;
      return this.#keep(key, role.image, 'miss', work);
    }
    try {
      const stored = role.mayBeStored ? await this.#readDisk(key, work) : null;
      const shared = this.#shared;
      const found = stored ?? (shared === null ? null : await this.#readShared(shared, key, work));
      const result = found ?? (await this.#produce(key, work, permit));
      // Followers in other processes must wait for the disk write; this response need not, unless it is that of
      // a prewarming, after which every process must find the image.
      const written = this.#write(key, result, work).then(() => role.succeed(result.image));
      if (result.tier === 'miss') shared?.write(key, result.image, work.purges);
      if (!isLive(work)) await written;
      return result;
    } catch (error) {
      const cancelled = work.signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  #join(key: string, work: Work): Promise<Role> {
    const flight = flightKey(key, work.purges);
    const participant = {
      live: isLive(work),
      signal: work.signal,
      retain: () => this.#misses.retain(flight),
      promote: () => {
        // While the queue is full, the followers wait for the work in the background.
        if (!this.#admission.isFull(work.project)) this.#misses.promote(flight);
      },
    };
    const { stages = noObserver } = work;
    const join = () => this.#environment.coalescer.join(flight, participant);
    return runStage(stages, 'coalesce', join, ({ role }) => ({ role }));
  }

  async #produce(key: string, work: Work, permit: Permit): Promise<CacheResult> {
    this.#requirePermit(permit, work);
    await permit.beginRender(work.admitRender);
    this.#environment.onRender('begun', key, {});
    const { image, timings } = await this.#producer.produce(work, () => permit.leaveQueue());
    this.#environment.onRender('done', key, timings);
    return this.#keep(key, image, 'miss', work, timings);
  }

  #readMemory(key: string, request: KnownRequest) {
    const { purges, stages = noObserver } = request;
    const stage = stages.begin('memory');
    const entry = this.#memory.get(key, this.#environment.now());
    const { stamp } = entry?.provenance ?? { stamp: 0 };
    const image = this.#use(key, entry && { image: entry.image, stamp }, request);
    stage.end({ hit: image !== null });
    if (entry === null || image === null) return null;
    if (stamp < purges.renewBelow) entry.provenance = provenanceOf(purges);
    return entry;
  }

  /** The image of a cache, unless it is outdated. It is stored with the last known purge when its stamp is too old. */
  #use(
    key: string,
    stored: StoredImage | null,
    { purges, states }: Pick<Work, 'purges' | 'states'>,
  ): Image | null {
    if (stored === null || !isValid(stored, purges, states(), this.#environment.now())) return null;
    const { image, stamp } = stored;
    if (stamp < purges.renewBelow) {
      void this.#disk?.renew(key, purges);
      this.#shared?.write(key, image, purges);
    }
    return image;
  }

  async #readDisk(key: string, work: Work): Promise<CacheResult | null> {
    const { stages = noObserver } = work;
    const disk = this.#disk;
    if (disk === null) return null;
    const read = async () => this.#use(key, await disk.read(key), work);
    const image = await runStage(stages, 'disk', read, (found) => ({ hit: found !== null }));
    return image && this.#keep(key, image, 'disk', work);
  }

  async #readShared(shared: SharedCache, key: string, work: Work): Promise<CacheResult | null> {
    const { purges, signal, stages = noObserver, sharedWait = shared.wait } = work;
    const { project } = purges.tags;
    const read = async () =>
      this.#use(key, await shared.read(key, project, signal, sharedWait), work);
    const image = await runStage(stages, 'shared', read, (found) => ({ hit: found !== null }));
    return image && this.#keep(key, image, 'shared', work);
  }

  /** Limits all waits of a request for the shared cache together. */
  #withSharedWait(request: FollowingRequest): FollowingRequest {
    return this.#shared === null ? request : { ...request, sharedWait: this.#shared.wait };
  }

  async #write(key: string, { image, tier }: CacheResult, work: Work): Promise<void> {
    const { purges, stages = noObserver } = work;
    const disk = this.#disk;
    if (disk === null || tier === 'disk' || !this.writesToDisk || !purges.isCurrent()) return;
    await runStage(stages, 'write', () => disk.write(key, image, provenanceOf(purges)));
  }

  /** Keeps an image in memory, unless it was purged while it was rendered. */
  #keep(
    key: string,
    image: Image,
    tier: ImageTier,
    { purges }: Work,
    timings: Timings = {},
  ): CacheResult {
    const entry = purges.isCurrent()
      ? this.#memory.set(key, image, provenanceOf(purges), this.#environment.now())
      : null;
    return { image, entry, tier, timings };
  }
}

/** A request, and what is known of its inputs. */
type KnownRequest = ImageRequest & Pick<Work, 'states' | 'onFetched'>;

const withoutStates = { states: () => [], onFetched: () => {} };

function followsInputs(request: ImageRequest): request is FollowingRequest {
  return request.freshness != null;
}
