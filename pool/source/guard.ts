import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import {
  type IpAddress,
  type Network,
  type Ports,
  type PrivateSource,
  parseAddress,
  parsePrivateSource,
  within,
} from '../../contract/networks.ts';
import { defaultOpsPort, type Settings } from '../../contract/settings/table.ts';
import {
  addressOfHost,
  isCredentialService,
  isLinkLocal,
  isPublic,
  isPublicName,
  isThisMachine,
  Nat64Discovery,
  type Nat64Prefixes,
  withRange,
} from './addresses.ts';
import { fetchFailureText } from './fetch-errors.ts';
import { NameResolver } from './resolver.ts';

/** Resolves names that the operator configured with the system's resolver. */
export type Resolver = (name: string, isConfigured: boolean) => Promise<readonly LookupAddress[]>;

/** The addresses of this service and its worker. */
export interface OwnAddresses {
  /** The base URL, and others that lead to the service. */
  readonly urls: readonly string[];
  /** Ports of this machine. */
  readonly ports: readonly number[];
}

export interface GuardOptions {
  /** Hosts and networks allowed in addition to public ones, as in {@link parsePrivateSource}. */
  readonly privateSources: readonly string[];
  /** The ports of public sources. */
  readonly sourcePorts: Ports;
  /** Addresses that are never sources. */
  readonly own: OwnAddresses;
  /** Configured NAT64 prefixes; empty by default. The resolver can report more. */
  readonly nat64Prefixes?: readonly Network[];
  /** DNS servers, `address` or `address:port`; null or absent for the system's servers. */
  readonly dnsServers?: readonly string[] | null;
  /** Default: a resolver that queries these servers. */
  readonly resolve?: Resolver | undefined;
}

/** The settings of a guard for a deployment's sources. */
export type GuardSettings = Pick<
  Settings,
  | 'privateSources'
  | 'sourcePorts'
  | 'nat64Prefixes'
  | 'dnsServers'
  | 'baseUrl'
  | 'internalUrl'
  | 'port'
  | 'workerPort'
  | 'opsPort'
>;

export const ownAddresses = (settings: GuardSettings): OwnAddresses => ({
  urls: [settings.baseUrl, settings.internalUrl],
  ports: [settings.port, settings.workerPort, settings.opsPort ?? defaultOpsPort],
});

/** Returns a URL's port, or its scheme's default port. */
export function getPort(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Decides which hosts and addresses can serve sources. */
export class AddressGuard {
  readonly #privateSources: readonly PrivateSource[];
  readonly #sourcePorts: Ports;
  readonly #ownUrls: readonly URL[];
  readonly #ownPorts: ReadonlySet<number>;
  readonly #configuredNat64: readonly Network[];
  readonly #discoveredNat64: Nat64Discovery;
  /** Resolves names without this guard's checks. */
  readonly resolveUnchecked: Resolver;

  /** @throws RangeError for an entry in `privateSources` that is neither network nor host name */
  constructor(options: GuardOptions) {
    const { privateSources, sourcePorts, own, dnsServers = null, resolve } = options;
    this.#privateSources = privateSources.map((entry) => {
      const parsed = parsePrivateSource(entry);
      if (parsed !== null) return parsed;
      throw new RangeError(`"${entry}" is not a CIDR, address or host name`);
    });
    this.#sourcePorts = sourcePorts;
    this.#ownUrls = own.urls.map((url) => new URL(url));
    this.#ownPorts = new Set(own.ports);
    const names = new NameResolver({ servers: dnsServers });
    this.resolveUnchecked = resolve ?? ((...name) => names.resolve(...name));
    this.#configuredNat64 = options.nat64Prefixes ?? [];
    this.#discoveredNat64 = new Nat64Discovery((name) => this.resolveUnchecked(name, false));
  }

  get #nat64(): Nat64Prefixes {
    const discovered = this.#discoveredNat64.prefixes;
    return { configured: this.#configuredNat64, discovered };
  }

  /**
   * Checks a URL before requesting it.
   *
   * @throws ServiceError source_invalid | source_blocked
   */
  async checkFetched(url: URL): Promise<void> {
    if (url.hostname.startsWith('[')) await this.#discoveredNat64.ready();
    this.check(url);
  }

  /**
   * Checks a URL without resolving its host.
   * @throws ServiceError source_invalid | source_blocked
   */
  check(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new ServiceError('source_invalid', 'The source must be an http or https URL.');
    }
    if (url.username !== '' || url.password !== '') {
      const text = 'The source must not contain a user name or password.';
      throw new ServiceError('source_invalid', text);
    }
    const host = canonicalHost(url.hostname);
    if (host === null) throw new ServiceError('source_invalid', 'The source has no valid host.');
    const address = addressOfHost(host);
    if (!this.allowsHost(host)) {
      const named = address === null ? host : withRange(address, this.#nat64);
      throw blocked(`The source host ${named} is not public.`);
    }
    const port = getPort(url);
    if (!this.#allowsPort(host, port)) throw portRefused(host, port);
    const isLocal = this.#ownPorts.has(port) && address !== null && createLocalCheck()(address);
    if (this.#isOwnUrl(host, port) || isLocal) throw ownSource();
  }

  /** Returns whether a host name or IP literal, in any spelling, is public or a private source. */
  allowsHost(host: string): boolean {
    const canonical = canonicalHost(host);
    if (canonical === null) return false;
    const address = addressOfHost(canonical);
    if (address !== null && isCredentialService(address, this.#nat64)) return false;
    if (this.#hasHost(canonical, null)) return true;
    if (address === null) return isPublicName(canonical);
    return isPublic(address, this.#nat64) || this.#hasAddress(address, null);
  }

  /** Returns whether `privateSources` contains a URL's host or address, with its port. */
  isPrivateSource(url: URL): boolean {
    const host = canonicalHost(url.hostname);
    if (host === null) return false;
    const address = addressOfHost(host);
    const port = getPort(url);
    return this.#hasHost(host, port) || (address !== null && this.#hasAddress(address, port));
  }

  /** Returns whether a host can be used at an address it resolved to. */
  allowsAddress(address: string, host: string, port: number): boolean {
    const parsed = parseAddress(address);
    // Applies to private sources too: its responses are the service's own secrets.
    if (parsed === null || isCredentialService(parsed, this.#nat64)) return false;
    // Cloud services with credentials have link-local addresses, which only a network can allow.
    if (isLinkLocal(parsed, this.#nat64)) return this.#hasAddress(parsed, port);
    const canonical = canonicalHost(host);
    if (canonical !== null && this.#hasHost(canonical, port)) return true;
    if (isPublic(parsed, this.#nat64) && hasPort(this.#sourcePorts, port)) return true;
    return this.#hasAddress(parsed, port);
  }

  /**
   * Returns the addresses for sockets to a host and port, at least one. A single disallowed address
   * refuses the name, because a mix of public and private addresses suggests an attack. Sockets
   * connect to these addresses, so the DNS response cannot change after the check.
   *
   * @param name a name, or an IP address without brackets
   * @throws ServiceError
   */
  async findAddresses(name: string, port: number): Promise<readonly LookupAddress[]> {
    const resolved = await this.#resolve(name);
    if (resolved.some((entry) => entry.family === 6)) await this.#discoveredNat64.ready();
    const isLocal = this.#ownPorts.has(port) ? createLocalCheck() : () => false;
    for (const { address } of resolved) {
      if (!this.allowsAddress(address, name, port)) {
        throw addressRefused(name, address, port, this.#nat64);
      }
      const parsed = parseAddress(address);
      if (parsed === null || isLocal(parsed)) throw ownSource();
    }
    if (resolved.length === 0) throw dnsFailure(name, undefined);
    return resolved;
  }

  #resolve(name: string): Promise<readonly LookupAddress[]> {
    const family = isIP(name);
    if (family !== 0) return Promise.resolve([{ address: name, family }]);
    return this.resolveUnchecked(name, this.#hasHost(name, null)).catch((error: unknown) => {
      throw dnsFailure(name, error);
    });
  }

  /**
   * Returns whether a private source names the host or matches it by wildcard.
   * @param port null for any port
   */
  #hasHost(host: string, port: number | null): boolean {
    return this.#privateSources.some(
      (source) =>
        'hosts' in source && hasPort(source.ports, port) && hostMatches([source.hosts], host),
    );
  }

  /**
   * Returns whether a private network contains the address.
   *
   * @param port null for any port
   */
  #hasAddress(address: IpAddress, port: number | null): boolean {
    const linkLocal = isLinkLocal(address, this.#nat64);
    return this.#privateSources.some(
      (source) =>
        'network' in source &&
        hasPort(source.ports, port) &&
        within(address, [source.network]) &&
        // A larger network, such as 0.0.0.0/0, does not allow the link-local addresses within it.
        (!linkLocal || isLinkLocal(source.network[0])),
    );
  }

  /** Returns whether a name can be used at every address it could resolve to. */
  #allowsPort(host: string, port: number): boolean {
    const address = addressOfHost(host);
    if (address !== null) return this.allowsAddress(address.toString(), host, port);
    if (this.#hasHost(host, port)) return true;
    if (!isPublicName(host)) return false;
    return (
      hasPort(this.#sourcePorts, port) ||
      this.#privateSources.some((source) => 'network' in source && hasPort(source.ports, port))
    );
  }

  #isOwnUrl(host: string, port: number): boolean {
    return this.#ownUrls.some(
      (url) =>
        canonicalHost(url.hostname) === host && (getPort(url) === port || this.#ownPorts.has(port)),
    );
  }
}

const blocked = (text: string) => new ServiceError('source_blocked', text);
const portRefused = (host: string, port: number) =>
  blocked(
    `Sources may not use port ${port} of ${host}. An operator can add the port to SERVICE_SOURCE_PORTS if the host is public, or else append \`:${port}\` to its entry in SERVICE_PRIVATE_SOURCES.`,
  );
const ownSource = () => blocked('The service cannot be its own source.');

function addressRefused(
  host: string,
  address: string,
  port: number,
  nat64: Nat64Prefixes,
): ServiceError {
  const parsed = parseAddress(address);
  if (parsed !== null && isPublic(parsed, nat64)) return portRefused(host, port);
  const named = parsed === null ? 'an invalid address' : `the address ${withRange(parsed, nat64)}`;
  return blocked(
    `The source host ${host} has ${named}, which is not public and not allowed at port ${port}.`,
  );
}

/** @param ports null for all. @param port null for any */
const hasPort = (ports: Ports, port: number | null): boolean =>
  ports === null || port === null || ports.includes(port);

/** Returns a function that returns true for every address of this machine. */
function createLocalCheck(): (address: IpAddress) => boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = new Set(interfaces.map((entry) => parseAddress(entry.address)?.toString()));
  return (address) => isThisMachine(address) || own.has(address.toString());
}

function dnsFailure(name: string, cause: unknown): ServiceError {
  return new ServiceError(
    'source_unreachable',
    fetchFailureText('DNS', cause, name, `the host name ${name} could not be resolved`),
    cause,
  );
}
