import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalUrl } from '../../contract/hosts.ts';
import { FairShare, type Owner } from '../fair-share.ts';
import type { EngineSettings } from '../settings.ts';
import { SingleFlight } from '../single-flight.ts';
import { noObserver, runStage, type Stage, type StageObserver } from '../stages.ts';
import { hasLoop, loopIdOf } from './cdn-loop.ts';
import { Connections } from './connections.ts';
import {
  type Fetched,
  type FetchOptions,
  fetchSource,
  type NotModified,
  notAllowed,
  type OriginResponse,
  type Validators,
} from './fetch.ts';
import { type FetchSlot, FetchSlots } from './fetch-slots.ts';
import { AddressGuard, type Resolver } from './guard.ts';
import type { Origin, OriginOf } from './origin.ts';
import { NameResolver } from './resolver.ts';
import { SharedMemory } from './shared-memory.ts';
import { TrustedEndpoints } from './trusted-endpoints.ts';

export type SourceSettings = Pick<
  EngineSettings,
  | 'fetchConcurrency'
  | 'privateSources'
  | 'sourcePorts'
  | 'dnsServers'
  | 'sourceMaxBytes'
  | 'sourceHeldBytes'
  | 'sourceCacheBytes'
  | 'sourceTimeoutMs'
  | 'own'
>;

export interface SourceOptions {
  /** Clock of the caches, in ms; must start above 0, and only differences count. */
  readonly now?: () => number;
  /** Unix ms. */
  readonly date?: () => number;
  readonly resolve?: Resolver;
}

export interface AcquireOptions {
  /** The id of the project whose shares of slots and bytes the fetch counts against. */
  readonly project: string;
  /** The project's allowlist; called with the canonical host of every redirect. */
  readonly allowed: (host: string) => boolean;
  readonly signal: AbortSignal;
  /** The bytes of each version are fetched and cached on their own; null for none. */
  readonly version?: string | null;
  /** Bytes whose fetch began before this time are not used. Unix ms. */
  readonly notBefore?: number;
  /** Lower priority than live requests: waits for a slot instead of being refused. */
  readonly background?: boolean;
  /** Aborts when a live request begins to wait for background work. */
  readonly promoted?: AbortSignal;
  readonly stages?: StageObserver;
  /** Default: plain HTTP requests. */
  readonly originOf?: OriginOf | undefined;
}

/** A source's bytes, which must not be changed. They count as held until released. */
export interface SourceLease extends OriginResponse {
  /** Must not be read after `release`, because their memory is reused. */
  readonly bytes: Uint8Array;
  /** The media type of the response; null when it is absent or invalid. */
  readonly contentType: string | null;
  /** Duration of the fetch, in ms; null when the bytes came from the cache. */
  readonly fetchMs: number | null;
  /** When the fetch began, Unix ms. */
  readonly fetchedAt: number;
  /** SHA-256 of the bytes, base64url; not after `release`. */
  digest(): string;
  /** Idempotent. */
  release(): void;
  /** Keeps the bytes for a reader beyond `release`, until the returned function is called. */
  hold(): () => void;
}

/** Long enough for the variants that one page requests, whatever the origin's Cache-Control says. */
const cacheMs = 30_000;
/** Estimated overhead of a cache entry besides its bytes and key. */
const entryOverhead = 512;
/** Long enough to protect a failing origin, short enough to notice its recovery. */
const failureMs = 5_000;
/** Part of the held bytes that each project may have: an average source or more. */
const guaranteedPart = 1 / 8;
/** Maximum idle connections, as a multiple of the fetch slots. */
const keptFactor = 4;
/** Memory for sources in use that are not in the cache. */
const maxBytesInUse = 64 * 1024 * 1024;
const failureBytes = 4 * 1024 * 1024;
/** Maximum fetches that a request joins while the shares of other projects are used up. */
const maxAttempts = 3;
/** Estimated size of a cached failure besides its key: hosts, and an error with stack and cause. */
const failureOverhead = 4_096;

/** Errors that are not failures of the source. */
const notCached = new Set(['overloaded', 'source_not_allowed', 'internal_error']);

interface Source extends Fetched {
  readonly hosts: readonly string[];
  readonly fetchedAt: number;
  leases: number;
  cached: boolean;
  /** The leased bytes count against the share of the first lease's project. */
  owner: Owner;
  /** Null before it is computed. */
  digest: string | null;
}

interface Failed {
  readonly failure: ServiceError;
  /** The project whose request started the fetch. */
  readonly project: string;
  /** The hosts of the redirects before the failure. */
  readonly hosts: readonly string[];
}

/** True until its bytes are freed. */
const isAllocated = ({ leases, cached }: Source): boolean => leases > 0 || cached;

type Outcome =
  | { readonly source: Source; readonly hosts: readonly string[]; readonly fetchMs: number }
  | Failed
  | { readonly notModified: NotModified; readonly hosts: readonly string[] }
  /** None of the waiting requests may use the host that the source redirects to. */
  | { readonly refused: string; readonly hosts: readonly string[] };

/** A request for bytes only if they have changed. */
interface Conditional {
  readonly validators: Validators;
  /** The key of the changed bytes. */
  readonly key: string;
}

/** A fetch in progress. */
interface Fetch {
  /** Null for plain HTTP requests. */
  readonly origin: Origin | null;
  /** When it was requested, Unix ms. */
  readonly since: number;
  readonly slot: FetchSlot;
  readonly owner: Owner;
  readonly signal: AbortSignal;
  /** Null for an unconditional fetch. */
  readonly conditional: Conditional | null;
  /** The waiting requests. */
  readonly waiting: Set<Pick<AcquireOptions, 'allowed'>>;
}

/** Fetches sources, with single flight, address checks, limits and a short cache. */
export class Sources {
  readonly guard: AddressGuard;
  readonly #loopId: string;
  readonly #settings: SourceSettings;
  readonly #connections: Connections;
  readonly #network: Pick<FetchOptions, 'guard' | 'connections'>;
  readonly #trusted: TrustedEndpoints;
  readonly #slots: FetchSlots;
  readonly #budget: FairShare;
  readonly #sharedFetches = new SingleFlight<string, Outcome>();
  readonly #fetches = new Map<string, Fetch>();
  readonly #cache: LRUCache<string, Source>;
  readonly #failures: LRUCache<string, Failed>;
  readonly #memory: SharedMemory;
  readonly #date: () => number;
  #closed: ServiceError | null = null;
  #fetchCount = 0;
  #followers = 0;

  constructor(settings: SourceSettings, options: SourceOptions = {}) {
    const { now, date = Date.now } = options;
    const { privateSources, sourcePorts, own } = settings;
    const { fetchConcurrency, sourceHeldBytes, sourceCacheBytes, sourceTimeoutMs } = settings;
    const names = new NameResolver({
      servers: settings.dnsServers,
      searched: (name) => this.guard.names(name),
    });
    const resolve = options.resolve ?? ((name) => names.resolve(name));
    this.#settings = settings;
    this.#date = date;
    this.guard = new AddressGuard({ privateSources, sourcePorts, own, resolve });
    this.#slots = new FetchSlots(fetchConcurrency);
    this.#budget = new FairShare(sourceHeldBytes, Math.floor(sourceHeldBytes * guaranteedPart));
    this.#loopId = loopIdOf(settings.own);
    const connectionLimits = {
      perOrigin: fetchConcurrency,
      kept: keptFactor * fetchConcurrency,
      timeoutMs: sourceTimeoutMs,
    };
    this.#connections = new Connections(this.guard, connectionLimits);
    this.#network = { guard: this.guard, connections: this.#connections };
    this.#trusted = new TrustedEndpoints({ own, resolve, sourcePorts: [] }, connectionLimits);
    const clock = now && { perf: { now }, ttlResolution: 0 };
    this.#memory = new SharedMemory(sourceCacheBytes + Math.min(sourceHeldBytes, maxBytesInUse));
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

  /**
   * The bytes of a source, from the cache or from the shared fetch for its URL. A redirect is followed if one
   * of the waiting requests may use its host; the others get source_not_allowed.
   * @throws ServiceError, or the signal's reason
   */
  async acquire(url: URL, options: AcquireOptions): Promise<SourceLease> {
    options.signal.throwIfAborted();
    this.guard.check(url);
    const target = canonicalUrl(url);
    const origin = options.originOf?.(target) ?? null;
    const key = this.#keyOf(target, origin, options);
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed !== null) throw this.#closed;
      // Keeps a source cached while its variants are prewarmed one after the other.
      const cached = this.#cache.get(key, { updateAgeOnGet: options.background === true });
      if (cached !== undefined) {
        checkHosts(cached.hosts, options);
        return this.#lease(cached, options.project, null);
      }
      const outcome =
        this.#failures.get(key) ?? (await this.#fetched(key, target, origin, options));
      checkHosts(outcome.hosts, options);
      if ('source' in outcome) {
        if (!isAllocated(outcome.source)) continue;
        return this.#lease(outcome.source, options.project, outcome.fetchMs);
      }
      if ('failure' in outcome) {
        // The share of another project was used up.
        const retry = outcome.failure.code === 'overloaded' && outcome.project !== options.project;
        if (retry && attempt < maxAttempts) continue;
        throw outcome.failure;
      }
      if ('notModified' in outcome) throw new Error('an unconditional request got 304');
      // A request that may use the host has joined after the redirect was refused, and tries again.
      if (!options.allowed(outcome.refused)) throw notAllowed(outcome.refused);
    }
  }

  /**
   * Asks the origin of a source whether its bytes have changed. The result has its bytes, or null when they have
   * not. New bytes replace those of the cache.
   * @throws as `acquire`
   */
  async revalidate(
    url: URL,
    validators: Validators,
    options: AcquireOptions,
  ): Promise<SourceLease | NotModified> {
    options.signal.throwIfAborted();
    this.guard.check(url);
    const target = canonicalUrl(url);
    const origin = options.originOf?.(target) ?? null;
    const key = this.#keyOf(target, origin, options);
    if (this.#closed !== null) throw this.#closed;
    // Not shared with unconditional fetches, nor with another project, which may know other bytes.
    const ownKey = `${key} revalidated by ${options.project}`;
    const outcome = await this.#join(ownKey, target, origin, options, { validators, key });
    checkHosts(outcome.hosts, options);
    if ('notModified' in outcome) return outcome.notModified;
    if ('source' in outcome) return this.#lease(outcome.source, options.project, outcome.fetchMs);
    throw 'failure' in outcome ? outcome.failure : notAllowed(outcome.refused);
  }

  /** The key of the cache and of shared fetches. */
  #keyOf(
    { href }: URL,
    origin: Origin | null,
    { version = null, notBefore = 0 }: AcquireOptions,
  ): string {
    const url = origin === null ? href : `${href} of ${origin.identity}`;
    const key = version === null ? url : `${url} ${version}`;
    const fetchedAt = this.#cache.peek(key)?.fetchedAt ?? this.#fetches.get(key)?.since;
    const isOutdated = fetchedAt !== undefined && fetchedAt < notBefore;
    return isOutdated ? `${key} after ${notBefore}` : key;
  }

  /** True when a CDN-Loop header shows that a fetch of this deployment caused the request. */
  isOwnFetch(cdnLoop: string): boolean {
    return hasLoop(cdnLoop, this.#loopId);
  }

  stats() {
    return {
      /** Fetches in flight, their limit, and the total of refused live fetches. */
      fetching: this.#slots.running,
      concurrency: this.#slots.limit,
      rejected: this.#slots.rejected,
      connections: this.#connections.open + this.#trusted.open,
      cacheBytes: this.#cache.calculatedSize,
      cacheEntries: this.#cache.size,
      /** Shared memory of the cache, leases and fetches in flight. */
      sharedBytes: this.#memory.used,
      failureBytes: this.#failures.calculatedSize,
      /** Bytes of fetches in flight and of leases, their limit, and refused fetches. */
      heldBytes: this.#budget.held,
      heldMaxBytes: this.#budget.limit,
      heldRejected: this.#budget.rejected,
      /** Total fetches started, and requests that waited for another one's fetch. */
      fetches: this.#fetchCount,
      followers: this.#followers,
    };
  }

  /** Aborts fetches in flight with `overloaded`, and closes all connections. */
  async close(): Promise<void> {
    this.#closed = new ServiceError('overloaded', 'The service is shutting down.');
    this.#sharedFetches.abort(this.#closed);
    this.#cache.clear();
    this.#failures.clear();
    await Promise.all([this.#connections.destroy(), this.#trusted.destroy()]);
  }

  /** The outcome of the fetch in progress for a URL, or of a new one. */
  #fetched(
    key: string,
    url: URL,
    origin: Origin | null,
    options: AcquireOptions,
  ): Promise<Outcome> {
    const join = () => this.#join(key, url, origin, options);
    if (!this.#sharedFetches.has(key)) return join();
    this.#followers += 1;
    return runStage(options.stages ?? noObserver, 'coalesce', join, () => ({ role: 'follower' }));
  }

  async #join(
    key: string,
    url: URL,
    origin: Origin | null,
    options: AcquireOptions,
    conditional: Conditional | null = null,
  ): Promise<Outcome> {
    const { promoted, signal, stages = noObserver } = options;
    signal.throwIfAborted();
    const owner: Owner = { project: options.project, host: url.host };
    const background = options.background === true && promoted?.aborted !== true;
    if (!background && this.#fetches.get(key)?.slot.promote(owner) === false) {
      throw this.#slots.overloaded();
    }
    // Outside of the shared call: others must not get the refusal of this project.
    const slot = this.#sharedFetches.has(key) ? null : this.#slots.enter(owner, background);
    const joined = this.#sharedFetches.run(
      key,
      (running) => {
        if (slot === null) throw new Error('a fetch needs a slot');
        const since = this.#date();
        const waiting: Fetch['waiting'] = new Set();
        const fetch = { origin, slot, owner, signal: running, since, conditional, waiting };
        this.#fetches.set(key, fetch);
        return this.#fetch(key, url, fetch, stages).finally(() => {
          slot.release();
          if (this.#fetches.get(key) === fetch) this.#fetches.delete(key);
        });
      },
      signal,
    );
    const waiting = this.#fetches.get(key)?.waiting;
    const request = { allowed: options.allowed };
    waiting?.add(request);
    const promote = () => this.#fetches.get(key)?.slot.promote(owner);
    if (!promoted?.aborted) promoted?.addEventListener('abort', promote, { once: true });
    return joined.finally(() => {
      waiting?.delete(request);
      promoted?.removeEventListener('abort', promote);
    });
  }

  async #fetch(key: string, url: URL, fetch: Fetch, stages: StageObserver): Promise<Outcome> {
    await fetch.slot.admitted(fetch.signal);
    this.#fetchCount += 1;
    const stage = stages.begin('fetch', { host: url.hostname });
    try {
      const outcome = await this.#fetchInStage(key, url, fetch, stage);
      if ('source' in outcome) stage.end({ bytes: outcome.source.bytes.byteLength });
      else if ('notModified' in outcome) stage.end({ bytes: 0 });
      else stage.fail('failure' in outcome ? outcome.failure : notAllowed(outcome.refused));
      return outcome;
    } catch (error) {
      stage.fail(error);
      throw error;
    }
  }

  async #fetchInStage(key: string, url: URL, fetch: Fetch, stage: Stage): Promise<Outcome> {
    const { origin, conditional, signal, since } = fetch;
    const hosts = [url.hostname];
    let refused: string | null = null;
    const allowed = (host: string) => {
      const isAllowed = [...fetch.waiting].some((request) => request.allowed(host));
      if (isAllowed) hosts.push(host);
      else refused = host;
      return isAllowed;
    };
    const started = performance.now();
    try {
      const trusted = origin?.trustedUrl ?? null;
      const network = trusted === null ? this.#network : this.#trusted.at(trusted);
      const fetched = await (origin?.fetch ?? fetchSource)(url, {
        ...network,
        loopId: this.#loopId,
        traceHeaders: stage.headers,
        allowed,
        maxBytes: this.#settings.sourceMaxBytes,
        budget: this.#budget,
        owner: fetch.owner,
        memory: this.#memory,
        timeoutMs: this.#settings.sourceTimeoutMs,
        signal,
        ...(conditional && { validators: conditional.validators }),
      });
      const fetchMs = performance.now() - started;
      if (fetched.bytes === null) return { notModified: fetched, hosts };
      const source: Source = {
        ...fetched,
        hosts,
        fetchedAt: since,
        leases: 1,
        cached: false,
        owner: fetch.owner,
        digest: null,
      };
      this.#keep(conditional?.key ?? key, source);
      return { source, hosts, fetchMs };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (refused !== null) return { refused, hosts };
      const failure =
        error instanceof ServiceError
          ? error
          : new ServiceError('internal_error', 'The source could not be fetched.', error);
      const failed = { failure, hosts, project: fetch.owner.project };
      if (conditional === null && !notCached.has(failure.code)) this.#failures.set(key, failed);
      return failed;
    }
  }

  #keep(key: string, source: Source): void {
    // The fetch's reservation is the first lease until the waiting requests have theirs, which happens in
    // microtasks before setImmediate.
    setImmediate(() => this.#release(source));
    if (this.#closed !== null) return;
    this.#cache.set(key, source);
    source.cached = this.#cache.peek(key) === source;
  }

  /**
   * Bytes count once for all leases. Bytes from the cache count even beyond the limit: they are already in
   * memory, and the size of the cache limits them.
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

/** Requires that this request may use every host of the redirects. */
function checkHosts(hosts: readonly string[], { allowed }: AcquireOptions): void {
  for (const host of hosts) if (!allowed(host)) throw notAllowed(host);
}
