import ipaddr from 'ipaddr.js';
import {
  type IpAddress,
  type Network,
  nat64Lengths,
  parseAddress,
} from '../../contract/networks.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { translated } from './addresses.ts';

/** RFC 7050: a name with only these IPv4 addresses. An IPv6 address of it contains one after a translator's prefix. */
const name = 'ipv4only.arpa';
const knownAddresses = new Set(['192.0.0.170', '192.0.0.171']);
type Resolve = (name: string) => Promise<readonly { readonly address: string }[]>;

const refreshMs = 10 * 60_000;
/** After a failure, such as that of a resolver without DNS64. */
const retryMs = 10_000;
/** Resolvers that synthesise addresses answer at once. */
const timeoutMs = 1_000;

/**
 * The NAT64 prefixes of the network, as its resolver reports them. The first query is sent when an IPv6 address is
 * checked. Only that check waits for the answer, for a second at most.
 */
export class Nat64Discovery {
  readonly #resolve: Resolve;
  #prefixes: readonly Network[] = [];
  #first: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** Prefixes of the last answer; empty before. */
  get prefixes(): readonly Network[] {
    return this.#prefixes;
  }

  /** Waits for the first answer. Does not reject. */
  async ready(): Promise<void> {
    if (performance.now() - this.#askedAt >= refreshMs) {
      this.#askedAt = performance.now();
      const asked = this.#ask();
      this.#first ??= unlessAborted(asked, AbortSignal.timeout(timeoutMs)).catch(() => {});
    }
    await this.#first;
  }

  async #ask(): Promise<void> {
    const answers = await this.#resolve(name).catch(() => null);
    if (answers === null) this.#askedAt += retryMs - refreshMs;
    else this.#prefixes = answers.flatMap(({ address }) => prefixesOf(parseAddress(address)));
  }
}

/** All prefixes after which an address contains one of the known addresses. */
function prefixesOf(address: IpAddress | null): readonly Network[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  return nat64Lengths
    .filter((length) => knownAddresses.has(translated(address, length).toString()))
    .map((length): Network => [address, length]);
}
