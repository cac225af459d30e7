import { LRUCache } from 'lru-cache';
import type { Agent } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import type { EngineSettings } from '../settings.ts';
import { SingleFlight } from '../single-flight.ts';
import { ByteBudget } from './budget.ts';
import { openConnections } from './connections.ts';
import { canonical, type Fetched, fetchSource, notAllowed } from './fetch.ts';
import { type FetchSlot, FetchSlots } from './fetch-slots.ts';
import { AddressGuard, type Resolver } from './guard.ts';
import { loopIdOf } from './loop.ts';

export type SourceSettings = Pick<
  EngineSettings,
  'fetchConcurrency' | 'privateSources' | 'sourceMaxBytes' | 'sourceTimeoutMs' | 'own'
>;

export interface SourceOptions {
  /** Clock of the caches, in ms; must start above 0, and only differences count. */
  readonly now?: () => number;
  readonly resolve?: Resolver;
  readonly cacheBytes?: number;
  readonly heldBytes?: number;
}

export interface AcquireOptions {
  /** The project's allowlist; called with the canonical host of every redirect. */
  readonly allowed: (host: string) => boolean;
  readonly signal: AbortSignal;
  /** Lower priority than live requests: waits for a slot instead of being refused … */
  readonly background?: boolean;
  /** … until this aborts, when a live request begins to wait for it. */
  readonly promoted?: AbortSignal;
}

/** A source's bytes, which must not be changed. They count as in use until released. */
export interface SourceLease {
  readonly bytes: Uint8Array;
  /** The media type that the origin named; null when it named none. */
  readonly contentType: string | null;
  /** Duration of the fetch, in ms; null when the bytes came from the cache. */
  readonly fetchMs: number | null;
  /** Idempotent. */
  release(): void;
}

/** Long enough for the variants that one page requests. The origin's Cache-Control is not used. */
const cacheMs = 30_000;
/**
 * A few hundred average sources, as many as pages show in half a minute. Images have other caches.
 */
const defaultCacheBytes = 64 * 1024 * 1024;
/** Estimated overhead of a cache entry besides its bytes and key. */
const entryOverhead = 512;
/**
 * Long enough to protect a failing origin from repeated requests, short enough after its recovery.
 */
const failureMs = 5_000;
const failureBytes = 4 * 1024 * 1024;
/** Four sources of the maximum size, but at least enough for many average ones. */
const defaultHeldBytes = (sourceMaxBytes: number) =>
  Math.max(4 * sourceMaxBytes, 128 * 1024 * 1024);

/** Errors of this service or of one request, which are not cached as failures of the source. */
const notCached = new Set(['overloaded', 'source_not_allowed', 'internal_error']);

interface Source extends Fetched {
  readonly hosts: readonly string[];
  leases: number;
}

interface Failed {
  readonly failure: ServiceError;
  /** Hosts that the fetch was redirected through before the failure. */
  readonly hosts: readonly string[];
}

type Outcome =
  | ({ readonly fetchMs: number } & Pick<Source, 'hosts'> & { readonly source: Source })
  | Failed
  /** None of the waiting requests may use the host that the source redirects to. */
  | { readonly refused: string; readonly hosts: readonly string[] };

/** A fetch in progress. */
interface Fetch {
  readonly slot: FetchSlot;
  readonly controller: AbortController;
  /** Requests that wait for the fetch. */
  readonly waiting: Set<Pick<AcquireOptions, 'allowed'>>;
}

/** Fetches sources: with single flight, address checks, limits and a short cache. */
export class Sources {
  readonly guard: AddressGuard;
  readonly loopId: string;
  readonly #settings: SourceSettings;
  readonly #connections: Agent;
  readonly #slots: FetchSlots;
  readonly #budget: ByteBudget;
  readonly #sharedFetches = new SingleFlight<string, Outcome>();
  readonly #fetches = new Map<string, Fetch>();
  readonly #cache: LRUCache<string, Source>;
  readonly #failures: LRUCache<string, Failed>;
  #closed: ServiceError | null = null;
  #fetchCount = 0;

  constructor(settings: SourceSettings, options: SourceOptions = {}) {
    const { now, resolve, cacheBytes = defaultCacheBytes } = options;
    const { privateSources, own, fetchConcurrency, sourceMaxBytes, sourceTimeoutMs } = settings;
    this.#settings = settings;
    this.guard = new AddressGuard({ privateSources, own, ...(resolve && { resolve }) });
    this.#slots = new FetchSlots(fetchConcurrency);
    this.#budget = new ByteBudget(options.heldBytes ?? defaultHeldBytes(sourceMaxBytes));
    this.loopId = loopIdOf(settings.own);
    this.#connections = openConnections(this.guard, {
      perOrigin: fetchConcurrency,
      timeoutMs: sourceTimeoutMs,
    });
    const clock = now && { perf: { now }, ttlResolution: 0 };
    this.#cache = new LRUCache({
      maxSize: cacheBytes,
      sizeCalculation: ({ bytes }, key) => bytes.byteLength + 2 * key.length + entryOverhead,
      ttl: cacheMs,
      ttlAutopurge: true,
      ...clock,
    });
    this.#failures = new LRUCache({
      maxSize: failureBytes,
      sizeCalculation: (_, key) => 2 * key.length + entryOverhead,
      ttl: failureMs,
      ...clock,
    });
  }

  /**
   * The bytes of a source, from the cache or from the shared fetch for its URL. A redirect is
   * followed as long as one waiting request may use its host; the other requests get
   * source_not_allowed.
   * @throws ServiceError, or the signal's reason
   */
  async acquire(url: URL, options: AcquireOptions): Promise<SourceLease> {
    options.signal.throwIfAborted();
    this.guard.check(url);
    const target = canonical(url);
    const key = target.href;
    for (;;) {
      if (this.#closed !== null) throw this.#closed;
      // Prewarming requests many variants one after the other; this keeps their source cached.
      const cached = this.#cache.get(key, { updateAgeOnGet: options.background === true });
      if (cached !== undefined) {
        checkHosts(cached.hosts, options);
        return this.#lease(cached, null);
      }
      const outcome = this.#failures.get(key) ?? (await this.#join(key, target, options));
      checkHosts(outcome.hosts, options);
      if ('source' in outcome) return this.#lease(outcome.source, outcome.fetchMs);
      if ('failure' in outcome) throw outcome.failure;
      // If this request may use the host, it joined after the redirect was refused: try again.
      if (!options.allowed(outcome.refused)) throw notAllowed(outcome.refused);
    }
  }

  stats() {
    return {
      /** Fetches in flight, their limit, and the total of refused live fetches. */
      fetching: this.#slots.running,
      concurrency: this.#slots.limit,
      rejected: this.#slots.rejected,
      cacheBytes: this.#cache.calculatedSize,
      /** Bytes of fetches in flight and of leases. */
      heldBytes: this.#budget.held,
      /** Total fetches started. */
      fetches: this.#fetchCount,
    };
  }

  /** Aborts fetches in flight with `overloaded` and closes all connections. */
  async close(): Promise<void> {
    this.#closed = new ServiceError('overloaded', 'The service is shutting down.');
    for (const { controller } of this.#fetches.values()) controller.abort(this.#closed);
    this.#cache.clear();
    this.#failures.clear();
    await this.#connections.destroy();
  }

  async #join(key: string, url: URL, options: AcquireOptions): Promise<Outcome> {
    const { promoted, signal } = options;
    const background = options.background === true && promoted?.aborted !== true;
    if (!background && this.#fetches.get(key)?.slot.promote() === false) {
      throw this.#slots.overloaded();
    }
    const joined = this.#sharedFetches.run(
      key,
      (shared) => {
        const slot = this.#slots.enter(background);
        const fetch: Fetch = { slot, controller: new AbortController(), waiting: new Set() };
        const { controller } = fetch;
        shared.addEventListener('abort', () => controller.abort(shared.reason), { once: true });
        this.#fetches.set(key, fetch);
        return this.#fetch(key, url, fetch).finally(() => {
          slot.release();
          if (this.#fetches.get(key) === fetch) this.#fetches.delete(key);
        });
      },
      signal,
    );
    const waiting = this.#fetches.get(key)?.waiting;
    const request = { allowed: options.allowed };
    waiting?.add(request);
    const promote = () => this.#fetches.get(key)?.slot.promote();
    promoted?.addEventListener('abort', promote, { once: true });
    return joined.finally(() => {
      waiting?.delete(request);
      promoted?.removeEventListener('abort', promote);
    });
  }

  async #fetch(key: string, url: URL, fetch: Fetch): Promise<Outcome> {
    const { signal } = fetch.controller;
    await fetch.slot.admitted(signal);
    this.#fetchCount += 1;
    const hosts = [url.hostname];
    let refused: string | null = null;
    const allowed = (host: string) => {
      for (const request of fetch.waiting) {
        if (!request.allowed(host)) continue;
        hosts.push(host);
        return true;
      }
      refused = host;
      return false;
    };
    const started = performance.now();
    try {
      const fetched = await fetchSource(url, {
        guard: this.guard,
        loopId: this.loopId,
        connections: this.#connections,
        allowed,
        maxBytes: this.#settings.sourceMaxBytes,
        budget: this.#budget,
        timeoutMs: this.#settings.sourceTimeoutMs,
        signal,
      });
      const fetchMs = performance.now() - started;
      return { source: this.#keep(key, fetched, hosts), hosts, fetchMs };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (refused !== null) return { refused, hosts };
      const failure =
        error instanceof ServiceError
          ? error
          : new ServiceError('internal_error', 'The source could not be fetched.', error);
      const failed = { failure, hosts };
      if (!notCached.has(failure.code)) this.#failures.set(key, failed);
      return failed;
    }
  }

  #keep(key: string, fetched: Fetched, hosts: readonly string[]): Source {
    // The fetch's reservation becomes a first lease until the waiting requests have their own
    // leases, which happens in microtasks before setImmediate.
    const source: Source = { ...fetched, hosts, leases: 1 };
    setImmediate(() => this.#release(source));
    if (this.#closed === null) this.#cache.set(key, source);
    return source;
  }

  /**
   * Bytes count once, however many leases they have. Bytes from the cache count even beyond the
   * limit: they are in memory already, and the size of the cache bounds them.
   */
  #lease(source: Source, fetchMs: number | null): SourceLease {
    if (source.leases === 0) this.#budget.add(source.bytes.byteLength);
    source.leases += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      this.#release(source);
    };
    return { bytes: source.bytes, contentType: source.contentType, fetchMs, release };
  }

  #release(source: Source): void {
    source.leases -= 1;
    if (source.leases === 0) this.#budget.release(source.bytes.byteLength);
  }
}

/**
 * Every host of the redirects must be allowed for this request, whichever request started the
 * fetch.
 */
function checkHosts(hosts: readonly string[], { allowed }: AcquireOptions): void {
  for (const host of hosts) if (!allowed(host)) throw notAllowed(host);
}
