import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { canonicalUrl } from '../../contract/hosts.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { FairShare, type Owner } from '../fair-share.ts';
import { shuttingDown } from '../overloaded.ts';
import { type NotModified, notAllowed, type OriginResponse, type Validators } from './fetch.ts';
import {
  type Failed,
  type FetchedSource,
  Fetches,
  type FetchRequest,
  type FetchSettings,
  type FetchTarget,
} from './fetches.ts';
import type { AddressGuard, Resolver } from './guard.ts';
import { SharedMemory } from './shared-memory.ts';
import type { SourceLoader } from './source-loader.ts';

export type SourceSettings = FetchSettings & Pick<Settings, 'sourceHeldBytes' | 'sourceCacheBytes'>;

export interface SourceOptions {
  /** Clock of the caches, in ms; must start above 0, and only differences count. */
  readonly now?: () => number;
  /** Unix ms. */
  readonly date?: () => number;
  readonly resolve?: Resolver;
}

export interface AcquireOptions extends FetchRequest {
  /**
   * Each version's bytes are fetched and cached separately; null if the request names no version.
   */
  readonly version?: string | null;
  /** Ignores bytes from fetches that started earlier. Unix ms. */
  readonly notBefore?: number;
}

/** A source's bytes, which must not be changed. They count as held until released. */
export interface SourceLease extends OriginResponse {
  /** Must not be read after `release`, because their memory is reused. */
  readonly bytes: Uint8Array;
  /** The response's media type; null if absent or invalid. */
  readonly contentType: string | null;
  /** Duration of the fetch, in ms; null when the bytes came from the cache. */
  readonly fetchMs: number | null;
  /** When the fetch started, Unix ms. */
  readonly fetchedAt: number;
  /** Returns the bytes' SHA-256, base64url. Not to be called after `release`. */
  digest(): string;
  /** Can be called more than once. */
  release(): void;
  /** Keeps the bytes for a reader beyond `release`, until the returned function is called. */
  hold(): () => void;
}

/** Long enough for the variants that a page requests, regardless of the origin's Cache-Control. */
const cacheMs = 30_000;
/** A cache entry's estimated overhead in addition to its bytes and key. */
const entryOverhead = 512;
/** Long enough to protect a failing origin, short enough to notice its recovery. */
const failureMs = 5_000;
/** Fraction of the held bytes that each project can use: an average source or more. */
const guaranteedPart = 1 / 8;
/** Memory for sources in use that are not in the cache. */
const maxBytesInUse = 64 * 1024 * 1024;
const failureBytes = 4 * 1024 * 1024;
/** Maximum fetches that a request joins while other projects have used up their shares. */
const maxAttempts = 3;
/**
 * A cached failure's estimated size in addition to its key: hosts, and an error with stack and
 * cause.
 */
const failureOverhead = 4_096;

interface Source extends Omit<FetchedSource, 'owner'> {
  leases: number;
  cached: boolean;
  /** The leased bytes count against the share of the first lease's project. */
  owner: Owner;
  /** Null until computed. */
  digest: string | null;
}

/** Returns true until its bytes are freed. */
const isAllocated = ({ leases, cached }: Source): boolean => leases > 0 || cached;

/** Fetches sources, with single flight, address checks, limits and a short cache. */
export class Sources {
  readonly #fetches: Fetches<Source>;
  readonly #budget: FairShare;
  readonly #cache: LRUCache<string, Source>;
  readonly #failures: LRUCache<string, Failed>;
  readonly #memory: SharedMemory;
  #closed = false;

  constructor(settings: SourceSettings, options: SourceOptions = {}) {
    const { now, date = Date.now, resolve } = options;
    const { sourceHeldBytes, sourceCacheBytes } = settings;
    this.#budget = new FairShare(sourceHeldBytes, Math.floor(sourceHeldBytes * guaranteedPart));
    const clock = now && { perf: { now }, ttlResolution: 0 };
    this.#memory = new SharedMemory(sourceCacheBytes + Math.min(sourceHeldBytes, maxBytesInUse));
    this.#fetches = new Fetches(settings, {
      memory: this.#memory,
      budget: this.#budget,
      date,
      resolve,
      onFetched: (key, fetched) => this.#keep(key, fetched),
      onFailed: (key, failed) => this.#failures.set(key, failed),
    });
    this.#cache = new LRUCache({
      // At least 1, because 0 would be no limit.
      maxSize: Math.max(1, sourceCacheBytes),
      sizeCalculation: ({ bytes }, key) => bytes.byteLength + 2 * key.length + entryOverhead,
      ttl: cacheMs,
      ttlAutopurge: true,
      dispose: (source) => {
        source.cached = false;
        this.#free(source);
      },
      ...clock,
    });
    this.#failures = new LRUCache({
      maxSize: failureBytes,
      sizeCalculation: (_, key) => 2 * key.length + failureOverhead,
      ttl: failureMs,
      ...clock,
    });
  }

  /** The guard that every fetch passes. */
  get guard(): AddressGuard {
    return this.#fetches.guard;
  }

  /**
   * Returns a source's bytes, from the cache or from the shared fetch for its URL. Fails with
   * source_not_allowed if the request cannot use a redirect's host.
   * @throws ServiceError, or the signal's reason
   */
  async acquire(url: URL, options: AcquireOptions): Promise<SourceLease> {
    const target = this.#check(url, options);
    const { key } = target;
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed) throw shuttingDown;
      // Keeps a source cached during the prewarming of its variants, which is sequential.
      const cached = this.#cache.get(key, { updateAgeOnGet: options.urgency?.isLive === false });
      if (cached !== undefined) {
        checkHosts(cached.hosts, options);
        return this.#lease(cached, options.project, null);
      }
      const outcome = this.#failures.get(key) ?? (await this.#fetches.run(key, target, options));
      checkHosts(outcome.hosts, options);
      if ('source' in outcome) {
        if (!isAllocated(outcome.source)) continue;
        return this.#lease(outcome.source, options.project, outcome.fetchMs);
      }
      if ('failure' in outcome) {
        // Another project has used up its share.
        const retry = outcome.failure.code === 'overloaded' && outcome.project !== options.project;
        if (retry && attempt < maxAttempts) continue;
        throw outcome.failure;
      }
      if ('notModified' in outcome) throw new Error('an unconditional request got 304');
      // A request that can use the host retries: another one, which cannot, started the fetch.
      if (!options.isAllowedHost(outcome.refused)) throw notAllowed(outcome.refused);
    }
  }

  /**
   * Revalidates a source with its origin. The result contains the bytes, or null if they are
   * unchanged. New bytes replace the cached bytes.
   * @throws as `acquire`
   */
  async revalidate(
    url: URL,
    validators: Validators,
    options: AcquireOptions,
  ): Promise<SourceLease | NotModified> {
    const target = this.#check(url, options);
    if (this.#closed) throw shuttingDown;
    // Not shared with unconditional fetches, nor with another project, which can receive other
    // bytes.
    const ownKey = `${target.key} revalidated by ${options.project}`;
    const outcome = await this.#fetches.run(ownKey, { ...target, validators }, options);
    checkHosts(outcome.hosts, options);
    if ('notModified' in outcome) return outcome.notModified;
    if ('source' in outcome) return this.#lease(outcome.source, options.project, outcome.fetchMs);
    throw 'failure' in outcome ? outcome.failure : notAllowed(outcome.refused);
  }

  #check(given: URL, options: AcquireOptions): FetchTarget {
    options.signal.throwIfAborted();
    this.guard.check(given);
    const url = canonicalUrl(given);
    const loader = options.findLoader?.(url) ?? null;
    return { key: this.#toKey(url, loader, options), url, loader };
  }

  /** Returns the key for the cache and for shared fetches. */
  #toKey(
    { href }: URL,
    loader: SourceLoader | null,
    { version = null, notBefore = 0 }: AcquireOptions,
  ): string {
    const url = loader === null ? href : `${href} of ${loader.identity}`;
    const key = version === null ? url : `${url} ${version}`;
    const fetchedAt = this.#cache.peek(key)?.fetchedAt ?? this.#fetches.since(key);
    const isOutdated = fetchedAt !== undefined && fetchedAt < notBefore;
    return isOutdated ? `${key} after ${notBefore}` : key;
  }

  /**
   * Returns whether a CDN-Loop header shows that this deployment's own fetch caused the request.
   */
  isOwnFetch(cdnLoop: string): boolean {
    return this.#fetches.isOwn(cdnLoop);
  }

  stats() {
    return {
      ...this.#fetches.stats(),
      cacheBytes: this.#cache.calculatedSize,
      cacheEntries: this.#cache.size,
      /** Shared memory of the cache, leases and fetches in flight. */
      sharedBytes: this.#memory.used,
      failureBytes: this.#failures.calculatedSize,
      /** Bytes of fetches in flight and of leases, their limit, and refused fetches. */
      heldBytes: this.#budget.held,
      heldMaxBytes: this.#budget.limit,
      heldRejected: this.#budget.rejected,
    };
  }

  /** Aborts fetches in flight with `overloaded`, and closes all connections. */
  async close(): Promise<void> {
    this.#closed = true;
    const closed = this.#fetches.close();
    this.#cache.clear();
    this.#failures.clear();
    await closed;
  }

  #keep(key: string, fetched: FetchedSource): Source {
    const source: Source = { ...fetched, leases: 1, cached: false, digest: null };
    // The fetch's reservation is the first lease. The waiting requests take their leases in
    // microtasks, before setImmediate.
    setImmediate(() => this.#release(source));
    if (this.#closed) return source;
    this.#cache.set(key, source);
    source.cached = this.#cache.peek(key) === source;
    return source;
  }

  /**
   * Counts bytes once for all leases. Bytes from the cache count even beyond the limit: they are
   * already in memory, and the cache's size limits them.
   */
  #lease(source: Source, project: string, fetchMs: number | null): SourceLease {
    if (source.leases === 0) {
      source.owner = { ...source.owner, project };
      this.#budget.add(source.owner, source.bytes.byteLength);
    }
    source.leases += 1;
    let released = false;
    const release = () => {
      if (!released) this.#release(source);
      released = true;
    };
    const hold = () => {
      source.leases += 1;
      return () => this.#release(source);
    };
    const digest = () => {
      source.digest ??= hash('sha256', source.bytes, 'base64url');
      return source.digest;
    };
    const { bytes, contentType, validators, freshness, fetchedAt } = source;
    return { bytes, contentType, validators, freshness, fetchedAt, fetchMs, digest, release, hold };
  }

  #release(source: Source): void {
    source.leases -= 1;
    if (source.leases > 0) return;
    this.#budget.release(source.owner, source.bytes.byteLength);
    this.#free(source);
  }

  #free(source: Source): void {
    if (!isAllocated(source)) this.#memory.free(source.bytes);
  }
}

/** Requires that this request can use every redirect host. */
function checkHosts(hosts: readonly string[], { isAllowedHost }: AcquireOptions): void {
  for (const host of hosts) if (!isAllowedHost(host)) throw notAllowed(host);
}
