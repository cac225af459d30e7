import { promises as dns, type LookupAddress, NODATA, NOTFOUND } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../single-flight.ts';

type Family = 4 | 6;

export interface NameResolverOptions {
  /** `address` or `address:port`; null for the servers of the system (resolv.conf). */
  readonly servers: readonly string[] | null;
  /**
   * Returns whether the system's search domains apply to a name: only if the operator configured
   * it.
   */
  readonly searched?: (name: string) => boolean;
  /** Timeouts for a server's response and for a whole resolution, in ms. */
  readonly attemptTimeoutMs?: number;
  readonly timeoutMs?: number;
  readonly hosts?: HostsFile;
  readonly resolvConf?: string;
  /** Default: the families of this machine's addresses. */
  readonly families?: readonly Family[];
  readonly cacheBytes?: number;
  /** Clock of the cache, in ms. */
  readonly now?: () => number;
}

/** Long enough for a slow recursive resolver; then the query is sent again. */
const defaultAttemptTimeoutMs = 2_000;
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
const defaultCacheBytes = 2 * 1024 * 1024;
/** Estimated overhead per entry, per address, and per error with its stack. */
const overhead = { entry: 512, address: 128, failure: 2_048 };

type Resolution =
  | { readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  | { readonly failure: unknown };

/**
 * Resolves host names with this process's own DNS queries (c-ares). getaddrinfo would occupy one of
 * libuv's few threads while a name's servers do not respond. Concurrent resolutions of a name share
 * a query with its own timeout. Like getaddrinfo it reads the hosts file first, and resolves
 * `localhost` (RFC 6761, 6.3). It does not use mDNS.
 */
export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #hosts: HostsFile;
  readonly #shared = new SingleFlight<string, Resolution>();
  readonly #cache: LRUCache<string, Resolution>;

  constructor(options: NameResolverOptions) {
    const { now, cacheBytes = defaultCacheBytes } = options;
    this.#options = options;
    this.#hosts = options.hosts ?? new HostsFile();
    this.#cache = new LRUCache({
      maxSize: cacheBytes,
      sizeCalculation: (resolution, name) =>
        2 * name.length +
        overhead.entry +
        ('failure' in resolution
          ? overhead.failure
          : overhead.address * resolution.addresses.length),
      ...(now && { perf: { now }, ttlResolution: 0 }),
    });
  }

  get cached(): { readonly names: number; readonly bytes: number } {
    return { names: this.#cache.size, bytes: this.#cache.calculatedSize };
  }

  /**
   * Returns all addresses of a canonical host name.
   *
   * @throws the resolver's error
   */
  async resolve(name: string): Promise<readonly LookupAddress[]> {
    const local = await this.#hosts.find(name);
    if (local !== null) return local;
    const resolution =
      this.#cache.get(name) ?? (await this.#shared.run(name, () => this.#resolve(name)));
    if ('failure' in resolution) throw resolution.failure;
    return resolution.addresses;
  }

  async #resolve(name: string): Promise<Resolution> {
    const {
      attemptTimeoutMs = defaultAttemptTimeoutMs,
      timeoutMs = defaultTimeoutMs,
      servers,
    } = this.#options;
    // Not shared between names, because `cancel` ends all queries of a resolver.
    const resolver = new dns.Resolver({ timeout: attemptTimeoutMs, tries });
    if (servers !== null) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    const failed = (failure: unknown) => ({ failure });
    const resolution = await this.#search(resolver, name).catch(failed);
    clearTimeout(timer);
    resolver.cancel();
    const ttl = 'failure' in resolution ? failedMs : resolution.ttlMs;
    this.#cache.set(name, resolution, { ttl });
    return resolution;
  }

  /** Resolves names with few dots in the search domains first, like getaddrinfo. */
  async #search(resolver: dns.Resolver, name: string): Promise<Resolution> {
    const { families = ownFamilies() } = this.#options;
    if (!this.#options.searched?.(name)) return query(resolver, name, families);
    const { domains, dots } = await searchDomains(this.#options.resolvConf);
    const candidates = domains.map((domain) => `${name}.${domain}`);
    const absoluteFirst = name.split('.').length - 1 >= dots;
    const order = absoluteFirst ? [name, ...candidates] : [...candidates, name];
    for (const candidate of order.slice(0, -1)) {
      const found = await query(resolver, candidate, families).catch(nullIfMissing);
      if (found !== null) return found;
    }
    return query(resolver, order.at(-1) ?? name, families);
  }
}

/** Queries both families at once. After the first response the other has 50 ms. */
async function query(
  resolver: dns.Resolver,
  name: string,
  families: readonly Family[],
): Promise<Resolution> {
  const queries = families.map((family) => queryFamily(resolver, name, family));
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

async function queryFamily(resolver: dns.Resolver, name: string, family: Family) {
  const options = { ttl: true } as const;
  const records =
    family === 4 ? await resolver.resolve4(name, options) : await resolver.resolve6(name, options);
  if (records.length === 0) throw Object.assign(new Error('no address'), { code: NODATA });
  return records.slice(0, maxAddresses).map(({ address, ttl }) => ({ address, ttl, family }));
}

/**
 * Returns the families of this machine's addresses except loopback; both if there is no other
 * address.
 */
function ownFamilies(): readonly Family[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const has = (family: 'IPv4' | 'IPv6') =>
    addresses.some((address) => !address.internal && address.family === family);
  if (has('IPv4') === has('IPv6')) return [4, 6];
  return has('IPv4') ? [4] : [6];
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === NOTFOUND || code === NODATA;
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

const hostsPath = '/etc/hosts';
/** Interval of the checks for changes, in ms. */
const checkEveryMs = 5_000;
/** A larger file is a blocklist and is not read. */
const maxHostsBytes = 4 * 1024 * 1024;

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The names of hosts(5), reloaded when the file has changed. */
export class HostsFile {
  readonly #path: string;
  readonly #now: () => number;
  #names: ReadonlyMap<string, readonly LookupAddress[]> = new Map();
  #version = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** @param now ms, monotonic */
  constructor(path = hostsPath, now: () => number = () => performance.now()) {
    this.#path = path;
    this.#now = now;
  }

  /**
   * Returns a canonical name's addresses; null if the file does not contain it. `localhost` and its
   * subdomains default to loopback (RFC 6761, 6.3).
   */
  async find(name: string): Promise<readonly LookupAddress[] | null> {
    if (this.#now() - this.#checkedAt >= checkEveryMs) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null;
      });
    }
    // Another call can have started the read.
    await this.#reading;
    const found = this.#names.get(name) ?? null;
    return found ?? (name === 'localhost' || name.endsWith('.localhost') ? loopback : null);
  }

  async #read(): Promise<void> {
    this.#checkedAt = this.#now();
    try {
      const { mtimeMs, ino, size } = await stat(this.#path);
      const version = `${mtimeMs} ${ino} ${size}`;
      if (version === this.#version) return;
      this.#names =
        size > maxHostsBytes ? new Map() : parseHosts(await readFile(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      this.#names = new Map();
      this.#version = '';
    }
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, '');
      const known = names.get(name) ?? [];
      known.push({ address, family });
      names.set(name, known);
    }
  }
  return names;
}

const resolvConfPath = '/etc/resolv.conf';
/** glibc's limits. */
const searchLimits = { domains: 6, dots: 15 };

interface SearchDomains {
  readonly domains: readonly string[];
  /** A name with at least this many dots is first resolved unchanged. */
  readonly dots: number;
}

/** Reads the search domains from resolv.conf(5). The last of several lines applies. */
export async function searchDomains(file = resolvConfPath): Promise<SearchDomains> {
  const text = await readFile(file, 'utf8').catch(() => '');
  let domains: readonly string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain')
      domains = words.slice(0, searchLimits.domains);
    if (keyword !== 'options') continue;
    for (const word of words) {
      const [, count] = /^ndots:(\d{1,3})$/.exec(word) ?? [];
      if (count !== undefined) dots = Math.min(Number(count), searchLimits.dots);
    }
  }
  return {
    domains: domains.map((name) => name.replace(/\.$/, '')).filter((name) => name !== ''),
    dots,
  };
}
