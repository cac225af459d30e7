import ipaddr from 'ipaddr.js';
import {
  type IpAddress,
  type Network,
  nat64Lengths,
  parseAddress,
  within,
} from '../../contract/networks.ts';
import { unlessAborted } from '../unless-aborted.ts';

/** The byte of RFC 6052 that is no part of an embedded address. */
const reservedByte = 8;

/**
 * Returns the IPv4 address that receives packets for an IPv6 address: through a translator with a
 * NAT64 prefix, or in an ISATAP tunnel (RFC 5214, 6.1). Returns null for other addresses.
 */
function embeddedIpv4(address: IpAddress, nat64Prefixes: readonly Network[]): ipaddr.IPv4 | null {
  if (address instanceof ipaddr.IPv4) return null;
  const prefix = nat64Prefixes.find((network) => within(address, [network]));
  if (prefix !== undefined) return translated(address, prefix[1]);
  const bytes = address.toByteArray();
  // The interface identifier's universal bit can be set.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0;
  return isIsatap && bytes[10] === 0x5e && bytes[11] === 0xfe
    ? new ipaddr.IPv4(bytes.slice(12))
    : null;
}

/** Returns the IPv4 address after a prefix of a length. */
function translated(address: ipaddr.IPv6, length: number): ipaddr.IPv4 {
  const bytes = address.toByteArray();
  const start = length / 8;
  const places = Array.from({ length: 5 }, (_, index) => start + index);
  const used = places.filter((place) => place !== reservedByte).slice(0, 4);
  return new ipaddr.IPv4(used.map((place) => bytes[place] ?? 0));
}

/** Returns the address of a canonical host that is an IP literal; null for a host name. */
export function addressOfHost(host: string): IpAddress | null {
  return parseAddress(host.startsWith('[') ? host.slice(1, -1) : host);
}

const networks = (...cidrs: string[]): readonly Network[] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/** The range that IANA allocates for global unicast (RFC 4291, 2.4). No other range is public. */
const globalUnicast = networks('2000::/3');

/** A service for Azure's virtual machines, on an address in a public range. */
const azurePlatform = networks('168.63.129.16/32');

/** Returns whether IANA's registries (RFC 6890) reserve an address for no special purpose. */
const isUnicast = (address: IpAddress): boolean =>
  address.range() === 'unicast' && !within(address, azurePlatform);

/**
 * The well-known NAT64 prefix (RFC 6052), which IPv6-only networks use to reach public IPv4 hosts.
 */
const wellKnownNat64 = networks('64:ff9b::/96');

/** NAT64 prefixes in addition to the well-known prefix. */
export interface Nat64Prefixes {
  /** Set by the operator: their addresses are public if the embedded ones are. */
  readonly configured: readonly Network[];
  /** Reported by a resolver. The service does not trust it to make other addresses public. */
  readonly discovered: readonly Network[];
}

const none: Nat64Prefixes = { configured: [], discovered: [] };

/** Returns the IPv4 address that an IPv6 address leads to, and the address itself. */
function destinations(address: IpAddress, { configured, discovered }: Nat64Prefixes): IpAddress[] {
  const embedded = embeddedIpv4(address, [...wellKnownNat64, ...configured, ...discovered]);
  return embedded === null ? [address] : [embedded, address];
}

/**
 * True for an address of a host on the public internet. False for all other kinds: loopback,
 * private, shared, link-local, multicast, documentation, benchmarking, tunnels, reserved and
 * unallocated (RFC 6890 and the IANA registries that it established).
 */
export function isPublic(address: IpAddress, nat64: Nat64Prefixes = none): boolean {
  if (address instanceof ipaddr.IPv4) return isUnicast(address);
  const embedded = destinations(address, nat64).filter(
    (destination) => destination instanceof ipaddr.IPv4,
  );
  if (!embedded.every((destination) => isPublic(destination))) return false;
  if (within(address, [...wellKnownNat64, ...nat64.configured])) return true;
  return within(address, globalUnicast) && isUnicast(address);
}

/**
 * Returns whether an address is link-local (RFC 3927, RFC 4291 2.5.6), where clouds serve their
 * metadata.
 */
export function isLinkLocal(address: IpAddress, nat64: Nat64Prefixes = none): boolean {
  return destinations(address, nat64).some((destination) => destination.range() === 'linkLocal');
}

/** The services of AWS that give a machine, a container or a pod its credentials. */
const credentialServices = networks(
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
);

/**
 * Returns whether this service itself could get credentials from an address: never a source's
 * address.
 */
export function isCredentialService(address: IpAddress, nat64: Nat64Prefixes = none): boolean {
  return destinations(address, nat64).some((destination) =>
    within(destination, credentialServices),
  );
}

/** Returns whether an address reaches this machine: loopback, or "unspecified" as a destination. */
export function isThisMachine(address: IpAddress): boolean {
  const range = address.range();
  return range === 'loopback' || range === 'unspecified';
}

/**
 * Top-level names that never belong to a public host: loopback (RFC 6761, 6.3), multicast DNS (RFC
 * 6762), private use (reserved by ICANN in 2024), home networks (RFC 8375), and two that DNS must
 * not look up at all (RFC 7686, RFC 9476). The list omits `.test`, `.example` and `.invalid`:
 * applications should treat the first two like other names (RFC 6761, 6.2 and 6.5), and the third
 * does not exist, which is a different error from "not public".
 */
const notPublic = ['localhost', 'local', 'internal', 'home.arpa', 'onion', 'alt'];

/** Returns whether a canonical host name can belong to a public host, judged by the name alone. */
export function isPublicName(name: string): boolean {
  const labels = name.split('.');
  return (
    labels.length > 1 &&
    !labels.includes('') &&
    !notPublic.some((suffix) => name.endsWith(`.${suffix}`))
  );
}

/** Returns whether a canonical host can be public, judged by its name or address alone. */
export function isPublicHost(host: string): boolean {
  const address = addressOfHost(host);
  return address === null ? isPublicName(host) : isPublic(address);
}

/**
 * A name with only these IPv4 addresses (RFC 7050). A translator's IPv6 addresses for it contain
 * such an address after the prefix.
 */
const name = 'ipv4only.arpa';
const knownAddresses = new Set(['192.0.0.170', '192.0.0.171']);
type Resolve = (name: string) => Promise<readonly { readonly address: string }[]>;

const refreshMs = 10 * 60_000;
/** Pause after a failure, such as a resolver without DNS64. */
const retryMs = 10_000;
/** Resolvers that synthesise addresses respond immediately. */
const timeoutMs = 1_000;

/**
 * Discovers the network's NAT64 prefixes from its resolver. The first check of an IPv6 address
 * sends the first query. Only that check waits for the response, for a second at most.
 */
export class Nat64Discovery {
  readonly #resolve: Resolve;
  #prefixes: readonly Network[] = [];
  #first: Promise<void> | null = null;
  #requestedAt = Number.NEGATIVE_INFINITY;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** Prefixes in the last response; empty before the first. */
  get prefixes(): readonly Network[] {
    return this.#prefixes;
  }

  /** Waits for the first response. Does not reject. */
  async ready(): Promise<void> {
    if (performance.now() - this.#requestedAt >= refreshMs) {
      this.#requestedAt = performance.now();
      const update = this.#update();
      this.#first ??= unlessAborted(update, AbortSignal.timeout(timeoutMs)).catch(() => {});
    }
    await this.#first;
  }

  async #update(): Promise<void> {
    const answers = await this.#resolve(name).catch(() => null);
    if (answers === null) this.#requestedAt += retryMs - refreshMs;
    else this.#prefixes = answers.flatMap(({ address }) => findPrefixes(parseAddress(address)));
  }
}

/** Returns all prefixes that precede a known address in an address. */
function findPrefixes(address: IpAddress | null): readonly Network[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  return nat64Lengths
    .filter((length) => knownAddresses.has(translated(address, length).toString()))
    .map((length): Network => [address, length]);
}

/**
 * Returns an address with its range's name, such as `127.0.0.1 (loopback)`. For a translated
 * address, returns the range of the IPv4 address it leads to.
 */
export function withRange(address: IpAddress, nat64: Nat64Prefixes): string {
  const [reached = address] = destinations(address, nat64);
  const range = reached.range();
  const words = range.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${address} (${range === 'unicast' ? 'not a public range' : words})`;
}
