import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import {
  type Address,
  addressOfHost,
  type Network,
  parseAddress,
  parseNetworkOrHost,
  within,
} from '../../contract/networks.ts';
import { isPublic, isPublicName, isThisMachine } from './addresses.ts';
import { fetchFailureText } from './failure-words.ts';
import { NameResolver } from './resolver.ts';

/** All addresses of a host name. */
export type Resolver = (name: string) => Promise<readonly LookupAddress[]>;

export interface GuardOptions {
  /** CIDRs, addresses, host names and `*.` wildcards to allow even though they are not public. */
  readonly privateSources: readonly string[];
  /** The service's own host names and port; never a source, regardless of `privateSources`. */
  readonly own: { readonly hosts: readonly string[]; readonly port: number };
  /** Default: the system's DNS servers. */
  readonly resolve?: Resolver;
}

const systemNames = new NameResolver({ servers: null });
const systemResolver: Resolver = (name) => systemNames.resolve(name);

/** The port that a URL names or that its scheme implies. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Decides which hosts and addresses sources may be fetched from. */
export class AddressGuard {
  readonly #networks: Network[] = [];
  readonly #hosts: string[] = [];
  readonly #ownHosts: ReadonlySet<string | null>;
  readonly #ownPort: number;
  readonly #resolve: Resolver;

  /** @throws RangeError for an entry of `privateSources` that is neither network nor host name */
  constructor(options: GuardOptions) {
    for (const entry of options.privateSources) {
      const parsed = parseNetworkOrHost(entry);
      if (parsed === null) {
        throw new RangeError(`"${entry}" is neither a CIDR nor an address nor a host name`);
      }
      if (typeof parsed === 'string') this.#hosts.push(parsed);
      else this.#networks.push(parsed);
    }
    this.#ownHosts = new Set(options.own.hosts.map(canonicalHost));
    this.#ownPort = options.own.port;
    this.#resolve = options.resolve ?? systemResolver;
  }

  /**
   * Checks a URL before its host is resolved. For an IP literal this is the only check, because
   * Node does not call `lookup` for it.
   * @throws ServiceError source_invalid | source_blocked
   */
  check(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new ServiceError('source_invalid', 'The source must be an http or https URL.');
    }
    if (url.username !== '' || url.password !== '') {
      throw new ServiceError('source_invalid', 'The source must not hold a user name or password.');
    }
    const host = canonicalHost(url.hostname);
    if (host === null) throw new ServiceError('source_invalid', 'The source has no valid host.');
    if (!this.allowsHost(host)) {
      throw new ServiceError('source_blocked', `The source host ${host} is not public.`);
    }
    const address = addressOfHost(host);
    const port = portOf(url);
    if (port !== this.#ownPort) return;
    if (this.#ownHosts.has(host) || (address !== null && isLocal(address))) {
      throw new ServiceError('source_blocked', 'The service cannot be its own source.');
    }
  }

  /** True when a host name or an IP literal, in any spelling, is public or a private source. */
  allowsHost(host: string): boolean {
    const canonical = canonicalHost(host);
    if (canonical === null) return false;
    if (hostMatches(this.#hosts, canonical)) return true;
    const address = addressOfHost(canonical);
    return address === null ? isPublicName(canonical) : this.#allows(address);
  }

  /** True when `privateSources` names a host, or has a wildcard for it. */
  names(host: string): boolean {
    return hostMatches(this.#hosts, host);
  }

  /** True when a host may be reached at an address that it resolved to. */
  allowsAddress(address: string, host: string): boolean {
    const canonical = canonicalHost(host);
    if (canonical !== null && hostMatches(this.#hosts, canonical)) return true;
    const parsed = parseAddress(address);
    return parsed !== null && this.#allows(parsed);
  }

  /**
   * The `lookup` for sockets to one port. It checks every address: one address that is not allowed
   * refuses the name, because a mix of public and private addresses suggests an attack. The socket
   * connects to the returned addresses, so the DNS answer cannot change after the check.
   */
  lookupFor(port: number): LookupFunction {
    return (name, options, callback) => {
      const family = typeof options.family === 'number' ? options.family : 0;
      this.#lookup(name, port, family).then(
        (addresses) => {
          const [first] = addresses;
          if (options.all === true) process.nextTick(callback, null, addresses);
          else process.nextTick(callback, null, first.address, first.family);
        },
        (error) => process.nextTick(callback, error, options.all === true ? [] : '', 0),
      );
    };
  }

  async #lookup(name: string, port: number, family: number) {
    const resolved = await this.#resolve(name).catch((error: unknown) => {
      throw dnsFailure(name, error);
    });
    for (const { address } of resolved) {
      if (!this.allowsAddress(address, name)) {
        throw new ServiceError(
          'source_blocked',
          `The source host ${name} has an address that is not public.`,
        );
      }
      const parsed = parseAddress(address);
      if (port === this.#ownPort && (parsed === null || isLocal(parsed))) {
        throw new ServiceError('source_blocked', 'The service cannot be its own source.');
      }
    }
    const [first, ...rest] = resolved.filter((one) => family === 0 || one.family === family);
    if (first === undefined) throw dnsFailure(name, undefined);
    return [first, ...rest] as const;
  }

  #allows(address: Address): boolean {
    return isPublic(address) || within(address, this.#networks);
  }
}

/** True for every address of this machine. */
function isLocal(address: Address): boolean {
  if (isThisMachine(address)) return true;
  const text = address.toString();
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => parseAddress(entry.address)?.toString() === text),
  );
}

function dnsFailure(name: string, cause: unknown): ServiceError {
  return new ServiceError(
    'source_unreachable',
    fetchFailureText('DNS', cause, name, `the host name ${name} could not be resolved`),
    cause,
  );
}
