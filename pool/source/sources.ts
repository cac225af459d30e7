import { LRUCache } from 'lru-cache';
import type { Agent } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import type { EngineSettings } from '../settings.ts';
import { SingleFlight } from '../single-flight.ts';
import { ByteBudget } from './budget.ts';
import { openConnections } from './connections.ts';
import { canonical, fetchSource, notAllowed } from './fetch.ts';
import { type FetchSlot, FetchSlots } from './fetch-slots.ts';
import { AddressGuard, type Resolver } from './guard.ts';
import { loopIdOf } from './loop.ts';

export type SourceSettings = Pick<
  EngineSettings,
  'fetchConcurrency' | 'privateSources' | 'sourceMaxBytes' | 'sourceTimeoutMs' | 'own'
>;

export interface SourceOptions {
  /** Clock for what is remembered, ms; starts above 0, and only differences count. */
  readonly now?: () => number;
  readonly resolve?: Resolver;
  readonly cacheBytes?: number;
  readonly heldBytes?: number;
}

export interface AcquireOptions {
  /** The project's allowlist; asked for the canonical host of every redirect. */
  readonly allowed: (host: string) => boolean;
  readonly signal: AbortSignal;
  /** Yields to live requests: waits where they would be turned away … */
  readonly background?: boolean;
  /** … until this is aborted, once a live request waits for it. */
  readonly promoted?: AbortSignal;
}

/** A source's bytes, not to be changed, and counted as held until released. */
export interface SourceLease {
  readonly bytes: Uint8Array;
  /** How long the fetch took, ms; null when the bytes came from the cache. */
  readonly fetchMs: number | null;
  /** Harmless when called twice. */
  release(): void;
}

/** Long enough for the variants that a page asks for together; the origin's caching rules are not asked. */
const cacheMs = 30_000;
/** A few hundred usual pictures: what the pages of half a minute show. The finished ones have caches of their own. */
const defaultCacheBytes = 64 * 1024 * 1024;
/** Bookkeeping of a cached entry beside its bytes and key, roughly. */
const entryOverhead = 512;
/** Long enough to spare a broken origin a stampede, too short to be noticed once it is repaired. */
const failureMs = 5_000;
const failureBytes = 4 * 1024 * 1024;
/** Room for some sources of the greatest size at once, and for many usual ones where that is small. */
const defaultHeldBytes = (sourceMaxBytes: number) =>
  Math.max(4 * sourceMaxBytes, 128 * 1024 * 1024);

/** What is the state of this service or of one request, and says nothing about the source. */
const notRemembered = new Set(['overloaded', 'source_not_allowed', 'internal_error']);

interface Source {
  readonly bytes: Uint8Array;
  readonly hosts: readonly string[];
  leases: number;
}

interface Failed {
  readonly failure: ServiceError;
  /** Hosts that were passed before it. */
  readonly hosts: readonly string[];
}

type Outcome =
  | ({ readonly fetchMs: number } & Pick<Source, 'hosts'> & { readonly source: Source })
  | Failed
  /** No request that waited may use the host that the source redirects to. */
  | { readonly refused: string; readonly hosts: readonly string[] };

/** A fetch in progress. */
interface Fetch {
  readonly slot: FetchSlot;
  readonly controller: AbortController;
  /** The requests that wait for it. */
  readonly waiting: Set<Pick<AcquireOptions, 'allowed'>>;
}

/** Fetches sources: each once for all that want it, guarded, bounded, and kept for a moment. */
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
   * The bytes of a source: cached, or by joining or starting the one fetch for its URL. A redirect
   * is followed while anyone who waits may use its host; who may not, gets source_not_allowed.
   * @throws ServiceError, or the signal's reason
   */
  async acquire(url: URL, options: AcquireOptions): Promise<SourceLease> {
    options.signal.throwIfAborted();
    this.guard.check(url);
    const wanted = canonical(url);
    const key = wanted.href;
    for (;;) {
      if (this.#closed !== null) throw this.#closed;
      // Prewarming asks for many variants in a row, slowly; it shall fetch their source once.
      const cached = this.#cache.get(key, { updateAgeOnGet: options.background === true });
      if (cached !== undefined) {
        checkHosts(cached.hosts, options);
        return this.#lease(cached, null);
      }
      const outcome = this.#failures.get(key) ?? (await this.#join(key, wanted, options));
      checkHosts(outcome.hosts, options);
      if ('source' in outcome) return this.#lease(outcome.source, outcome.fetchMs);
      if ('failure' in outcome) throw outcome.failure;
      // The redirect was refused before this request, whose project may use that host, had joined.
      if (!options.allowed(outcome.refused)) throw notAllowed(outcome.refused);
    }
  }

  stats() {
    return {
      /** Fetches in flight now, their bound, and live ones that were turned away so far. */
      fetching: this.#slots.running,
      concurrency: this.#slots.limit,
      rejected: this.#slots.rejected,
      cacheBytes: this.#cache.calculatedSize,
      /** Bytes of fetches in flight and of leases. */
      heldBytes: this.#budget.held,
      /** Fetches started so far. */
      fetches: this.#fetchCount,
    };
  }

  /** Ends what is under way with `overloaded` and closes all connections. */
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
          slot.leave();
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
      const bytes = await fetchSource(url, {
        guard: this.guard,
        loopId: this.loopId,
        connections: this.#connections,
        allowed,
        maxBytes: this.#settings.sourceMaxBytes,
        budget: this.#budget,
        timeoutMs: this.#settings.sourceTimeoutMs,
        signal,
      });
      return { source: this.#keep(key, bytes, hosts), hosts, fetchMs: performance.now() - started };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (refused !== null) return { refused, hosts };
      const failure =
        error instanceof ServiceError
          ? error
          : new ServiceError('internal_error', 'The source could not be fetched.', error);
      const failed = { failure, hosts };
      if (!notRemembered.has(failure.code)) this.#failures.set(key, failed);
      return failed;
    }
  }

  #keep(key: string, bytes: Uint8Array, hosts: readonly string[]): Source {
    // The fetch's reservation goes on as a first lease until those who waited have taken theirs,
    // which all happens before the event loop turns.
    const source: Source = { bytes, hosts, leases: 1 };
    setImmediate(() => this.#release(source));
    if (this.#closed === null) this.#cache.set(key, source);
    return source;
  }

  /**
   * Bytes are held once, however many lease them. Those that only the cache had are counted beyond
   * the limit if need be: they are in memory already, and no more of them than the cache can hold.
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
    return { bytes: source.bytes, fetchMs, release };
  }

  #release(source: Source): void {
    source.leases -= 1;
    if (source.leases === 0) this.#budget.release(source.bytes.byteLength);
  }
}

/** A request's own allowlist holds for every host of a redirect, whichever request had it fetched. */
function checkHosts(hosts: readonly string[], { allowed }: AcquireOptions): void {
  for (const host of hosts) if (!allowed(host)) throw notAllowed(host);
}
