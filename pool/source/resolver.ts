import { promises as dns, type LookupAddress, NODATA, NOTFOUND } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../single-flight.ts';

export interface NameResolverOptions {
  /** `address` or `address:port`; null for the servers of the system (resolv.conf). */
  readonly servers: readonly string[] | null;
  /** Timeout for a whole resolution, in ms. */
  readonly timeoutMs?: number;
  /** Clock of the cache, in ms. */
  readonly now?: () => number;
}

/** Long enough for a slow recursive resolver; then the query is sent again. */
const attemptTimeoutMs = 2_000;
const tries = 2;
/**
 * Maximum addresses per family. A DNS response over TCP can list 4,000 addresses, which take 10 to
 * 400 ms to check before each connection.
 */
const maxAddresses = 32;
/** Less than the default timeout of a fetch, so that the error names the stage. */
const defaultTimeoutMs = 5_000;
/** How long a family's response waits for the other's (RFC 8305, 3). */
const otherFamilyMs = 50;

/** Limits for a response's time to live, in ms. */
const ttlRangeMs = { least: 1_000, most: 60_000 };
/** Short, because a name can be repaired: an unresolvable name is queried every 5 s. */
const failedMs = 5_000;
/** The system does not tell a time to live. */
const systemTtlMs = 10_000;
const maxCachedNames = 1_000;

type Resolution =
  | { readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  | { readonly failure: unknown };

/**
 * Resolves host names. Names from clients get this process's own DNS queries (c-ares), because
 * getaddrinfo would occupy one of libuv's few threads while a name's servers do not respond. Names
 * that the operator configured are resolved like any program does, with the hosts file, search
 * domains and mDNS. Concurrent resolutions of a name share a query.
 */
export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #shared = new SingleFlight<string, Resolution>();
  readonly #cache: LRUCache<string, Resolution>;

  constructor(options: NameResolverOptions) {
    const { now } = options;
    this.#options = options;
    this.#cache = new LRUCache({
      max: maxCachedNames,
      ...(now && { perf: { now }, ttlResolution: 0 }),
    });
  }

  /**
   * Returns all addresses of a canonical host name.
   *
   * @throws the resolver's error
   */
  async resolve(name: string, isConfigured: boolean): Promise<readonly LookupAddress[]> {
    const key = isConfigured ? `${name} configured` : name;
    const resolution =
      this.#cache.get(key) ??
      (await this.#shared.run(key, async () => {
        const resolved = await this.#resolve(name, isConfigured).catch((failure) => ({ failure }));
        const ttl = 'failure' in resolved ? failedMs : resolved.ttlMs;
        this.#cache.set(key, resolved, { ttl });
        return resolved;
      }));
    if ('failure' in resolution) throw resolution.failure;
    return resolution.addresses;
  }

  async #resolve(name: string, isConfigured: boolean): Promise<Resolution> {
    if (!isConfigured) return this.#query(name);
    if (this.#options.servers === null) return lookUp(name);
    return this.#query(name).catch((error) => {
      if (isMissing(error)) return lookUp(name);
      throw error;
    });
  }

  async #query(name: string): Promise<Resolution> {
    const { timeoutMs = defaultTimeoutMs, servers } = this.#options;
    // Not shared between names, because `cancel` ends all queries of a resolver.
    const resolver = new dns.Resolver({ timeout: attemptTimeoutMs, tries });
    if (servers !== null) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
      return await query(resolver, name);
    } finally {
      clearTimeout(timer);
      resolver.cancel();
    }
  }
}

async function lookUp(name: string): Promise<Resolution> {
  const addresses = await dns.lookup(name, { all: true });
  return { addresses: addresses.slice(0, maxAddresses), ttlMs: systemTtlMs };
}

/** Queries both families at once. After the first response the other has 50 ms. */
async function query(resolver: dns.Resolver, name: string): Promise<Resolution> {
  const queries = ([4, 6] as const).map((family) => queryFamily(resolver, name, family));
  const results = await Promise.any(queries).then(
    () =>
      Promise.allSettled(
        queries.map((pending) => Promise.race([pending, delay(otherFamilyMs, null)])),
      ),
    () => Promise.allSettled(queries),
  );
  const records = results.flatMap((result) =>
    result.status === 'fulfilled' ? (result.value ?? []) : [],
  );
  if (records.length === 0) {
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    // A family's missing address does not explain a failed query for the other.
    throw failures.find((failure) => !isMissing(failure)) ?? failures[0];
  }
  const ttl = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
  return {
    addresses: records.map(({ address, family }) => ({ address, family })),
    ttlMs: Math.min(Math.max(ttl, ttlRangeMs.least), ttlRangeMs.most),
  };
}

async function queryFamily(resolver: dns.Resolver, name: string, family: 4 | 6) {
  const options = { ttl: true } as const;
  const records =
    family === 4 ? await resolver.resolve4(name, options) : await resolver.resolve6(name, options);
  if (records.length === 0) throw Object.assign(new Error('no address'), { code: NODATA });
  return records.slice(0, maxAddresses).map(({ address, ttl }) => ({ address, ttl, family }));
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === NOTFOUND || code === NODATA;
}
