import { ServiceError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings/table.ts';
import type { FairShare, Owner } from '../fair-share.ts';
import { shuttingDown } from '../overloaded.ts';
import { liveWork, SingleFlight, type Urgency } from '../single-flight.ts';
import { noObserver, runStage, type Stage, type StageObserver } from '../stages.ts';
import { Connections, type Network, TrustedEndpoints } from './connections.ts';
import { EgressProxy } from './egress-proxy.ts';
import {
  type Fetched,
  fetchSource,
  type NotModified,
  notAllowed,
  type Validators,
} from './fetch.ts';
import { type FetchSlot, FetchSlots } from './fetch-slots.ts';
import {
  AddressGuard,
  type GuardSettings,
  type OwnAddresses,
  ownAddresses,
  type Resolver,
} from './guard.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { FindLoader, SourceLoader } from './source-loader.ts';

export type FetchSettings = GuardSettings &
  Pick<
    Settings,
    | 'fetchConcurrency'
    | 'sourceMaxBytes'
    | 'sourceTimeoutMs'
    | 'sourceProxy'
    | 'sourceNoProxy'
    | 'userAgent'
  >;

interface FetchesEnvironment<S> {
  /** All sources' bytes. */
  readonly memory: SharedMemory;
  /** The shares of projects in the bytes of sources that are in use. */
  readonly budget: FairShare;
  /** Unix ms. */
  readonly date: () => number;
  readonly resolve?: Resolver | undefined;
  /** Called with the bytes that have arrived, before those who wait for them get them. */
  readonly onFetched: (key: string, fetched: FetchedSource) => S;
  /** Called with a failure of a source. */
  readonly onFailed: (key: string, failed: Failed) => void;
}

export interface FetchedSource extends Fetched {
  /** Hosts of all redirects. */
  readonly hosts: readonly string[];
  /** When the fetch started, Unix ms. */
  readonly fetchedAt: number;
  /** The bytes count against the share of the fetch's project. */
  readonly owner: Owner;
}

export interface FetchRequest {
  /** The id of the project that lends the fetch its slot and byte shares. */
  readonly project: string;
  /**
   * The project's allowlist; called with the canonical host of every redirect if the request starts
   * the fetch.
   */
  readonly isAllowedHost: (host: string) => boolean;
  readonly signal: AbortSignal;
  /** Background work waits for a slot instead of being refused. Default: live. */
  readonly urgency?: Urgency;
  readonly stages?: StageObserver;
  /** Default: plain HTTP requests. */
  readonly findLoader?: FindLoader | undefined;
}

export interface Failed {
  readonly failure: ServiceError;
  /** The project that requested the fetch. */
  readonly project: string;
  /** The redirects' hosts before the failure. */
  readonly hosts: readonly string[];
}

/** Errors that are not failures of the source. */
const notCached = new Set(['overloaded', 'source_not_allowed', 'internal_error']);

/** Maximum idle connections, as a multiple of the fetch slots. */
const keptFactor = 4;

export type Outcome<S> =
  | { readonly source: S; readonly hosts: readonly string[]; readonly fetchMs: number }
  | Failed
  | { readonly notModified: NotModified; readonly hosts: readonly string[] }
  /** The request that started the fetch cannot use the host that the source redirects to. */
  | { readonly refused: string; readonly hosts: readonly string[] };

/** A source to fetch. */
export interface FetchTarget {
  /** The source's key in the cache. */
  readonly key: string;
  readonly url: URL;
  /** Null for plain HTTP requests. */
  readonly loader: SourceLoader | null;
  /** For a request for bytes only if they have changed; absent for an unconditional fetch. */
  readonly validators?: Validators;
}

interface Fetch {
  readonly target: FetchTarget;
  /** Request time, Unix ms. */
  readonly since: number;
  readonly slot: FetchSlot;
  readonly owner: Owner;
  readonly signal: AbortSignal;
  readonly isAllowedHost: FetchRequest['isAllowedHost'];
}

/**
 * The fetches in progress. Requests for a key share a fetch. Each fetch takes a slot, and counts
 * against its project's shares.
 */
export class Fetches<S extends Pick<Fetched, 'bytes'>> {
  readonly guard: AddressGuard;
  readonly #settings: FetchSettings;
  readonly #environment: FetchesEnvironment<S>;
  readonly #loopId: string;
  readonly #proxy: EgressProxy | null;
  readonly #connections: Connections;
  readonly #network: Network;
  readonly #trusted: TrustedEndpoints;
  readonly #slots: FetchSlots;
  readonly #flights = new SingleFlight<string, Outcome<S>>();
  readonly #fetches = new Map<string, Fetch>();
  #fetchCount = 0;
  #followers = 0;

  constructor(settings: FetchSettings, environment: FetchesEnvironment<S>) {
    const { fetchConcurrency, nat64Prefixes, sourceTimeoutMs, sourceProxy } = settings;
    const own = ownAddresses(settings);
    this.#settings = settings;
    this.#environment = environment;
    this.guard = new AddressGuard({ ...settings, own, resolve: environment.resolve });
    const { resolveUnchecked: resolve } = this.guard;
    this.#slots = new FetchSlots(fetchConcurrency);
    this.#loopId = toLoopId(own);
    this.#proxy =
      sourceProxy === null
        ? null
        : new EgressProxy(sourceProxy, settings.sourceNoProxy, sourceTimeoutMs);
    const connectionLimits = {
      perOrigin: fetchConcurrency,
      kept: keptFactor * fetchConcurrency,
      timeoutMs: sourceTimeoutMs,
      proxy: this.#proxy,
    };
    this.#connections = new Connections(this.guard, connectionLimits);
    this.#network = { guard: this.guard, connections: this.#connections };
    this.#trusted = new TrustedEndpoints(
      { own, resolve, sourcePorts: [], nat64Prefixes },
      connectionLimits,
    );
  }

  /**
   * Returns the outcome of a key's fetch in progress, or of a new fetch.
   *
   * @param key of the shared fetch
   */
  run(key: string, target: FetchTarget, request: FetchRequest): Promise<Outcome<S>> {
    const join = () => this.#join(key, target, request);
    if (target.validators !== undefined || !this.#flights.has(key)) return join();
    this.#followers += 1;
    return runStage(request.stages ?? noObserver, 'coalesce', join, () => ({ role: 'follower' }));
  }

  /**
   * Returns when a key's fetch in progress was requested, Unix ms; undefined if no fetch is in
   * progress.
   */
  since(key: string): number | undefined {
    return this.#fetches.get(key)?.since;
  }

  /**
   * Returns whether a CDN-Loop header shows that this deployment's own fetch caused the request.
   */
  isOwn(cdnLoop: string): boolean {
    return hasLoop(cdnLoop, this.#loopId);
  }

  stats() {
    return {
      /** Fetches in flight, their limit, and the total of refused live fetches. */
      fetching: this.#slots.running,
      concurrency: this.#slots.limit,
      rejected: this.#slots.rejected,
      connections: this.#connections.open + this.#trusted.open,
      /** Total fetches started, and requests that waited for another request's fetch. */
      fetches: this.#fetchCount,
      followers: this.#followers,
    };
  }

  /** Aborts the fetches in progress, and closes all connections. */
  async close(): Promise<void> {
    this.#flights.abort(shuttingDown);
    await Promise.all(
      [this.#connections, this.#trusted, this.#proxy].map((connections) => connections?.destroy()),
    );
  }

  async #join(key: string, target: FetchTarget, request: FetchRequest): Promise<Outcome<S>> {
    const { project, urgency = liveWork, signal, stages = noObserver, isAllowedHost } = request;
    signal.throwIfAborted();
    const owner: Owner = { project, host: target.url.host };
    const promote = () => this.#fetches.get(key)?.slot.promote(owner);
    if (urgency.isLive && promote() === false) throw this.#slots.overloaded();
    // Outside of the shared call: others must not get the refusal of this project.
    const slot = this.#flights.has(key) ? null : this.#slots.enter(owner, !urgency.isLive);
    const joined = this.#flights.run(
      key,
      (running) => {
        if (slot === null) throw new Error('a fetch needs a slot');
        const since = this.#environment.date();
        const fetch = { target, slot, owner, signal: running, since, isAllowedHost };
        this.#fetches.set(key, fetch);
        return this.#fetch(fetch, stages).finally(() => {
          slot.release();
          if (this.#fetches.get(key) === fetch) this.#fetches.delete(key);
        });
      },
      signal,
    );
    return joined.finally(urgency.onPromotion(promote));
  }

  async #fetch(fetch: Fetch, stages: StageObserver): Promise<Outcome<S>> {
    await fetch.slot.admitted(fetch.signal);
    this.#fetchCount += 1;
    const stage = stages.begin('fetch', { host: fetch.target.url.hostname });
    try {
      const outcome = await this.#fetchInStage(fetch, stage);
      if ('source' in outcome) stage.end({ bytes: outcome.source.bytes.byteLength });
      else if ('notModified' in outcome) stage.end({ bytes: 0 });
      else stage.fail('failure' in outcome ? outcome.failure : notAllowed(outcome.refused));
      return outcome;
    } catch (error) {
      stage.fail(error);
      throw error;
    }
  }

  async #fetchInStage(fetch: Fetch, stage: Stage): Promise<Outcome<S>> {
    const { target, owner, signal, since: fetchedAt } = fetch;
    const { key, url, loader, validators } = target;
    const { budget, memory, onFetched, onFailed } = this.#environment;
    const hosts = [url.hostname];
    let refused: string | null = null;
    const isAllowedHost = (host: string) => {
      const isAllowed = fetch.isAllowedHost(host);
      if (isAllowed) hosts.push(host);
      else refused = host;
      return isAllowed;
    };
    const started = performance.now();
    try {
      const trusted = loader?.trustedUrl ?? null;
      const network = trusted === null ? this.#network : this.#trusted.at(trusted);
      const fetched = await (loader?.fetch ?? fetchSource)(url, {
        ...network,
        loopId: this.#loopId,
        userAgent: this.#settings.userAgent,
        traceHeaders: stage.headers,
        isAllowedHost,
        maxBytes: this.#settings.sourceMaxBytes,
        budget,
        owner,
        memory,
        timeoutMs: this.#settings.sourceTimeoutMs,
        signal,
        ...(validators && { validators }),
      });
      const fetchMs = performance.now() - started;
      if (fetched.bytes === null) return { notModified: fetched, hosts };
      return { source: onFetched(key, { ...fetched, hosts, fetchedAt, owner }), hosts, fetchMs };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (refused !== null) return { refused, hosts };
      const failure =
        error instanceof ServiceError
          ? error
          : new ServiceError('internal_error', 'The source could not be fetched.', error);
      const failed = { failure, hosts, project: owner.project };
      if (validators === undefined && !notCached.has(failure.code)) onFailed(key, failed);
      return failed;
    }
  }
}

/**
 * Returns this deployment's identifier in CDN-Loop headers (RFC 8586): its public host and its
 * port.
 */
function toLoopId({ urls, ports }: OwnAddresses): string {
  const [url = 'http://localhost'] = urls;
  return `${new URL(url).hostname}:${ports[0]}`;
}

/** More networks than any request comes through. */
const maxHops = 100;

/** Returns whether a CDN-Loop header contains this identifier. */
function hasLoop(cdnLoop: string, loopId: string): boolean {
  return cdnLoop
    .toLowerCase()
    .split(',', maxHops)
    .some((info) => info.split(';', 1)[0]?.trim() === loopId.toLowerCase());
}
