import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Network, parseAddress, within } from '../../contract/networks.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { clientNetworks } from './forwarded.ts';

/** A process's client connections, with totals since its start. */
export class ClientConnections {
  /** Maximum connections; the service closes all above it. */
  readonly limit: number;
  readonly #trustedProxies: readonly Network[];
  open = 0;
  /** Connections closed to make room, because their clients sent no request or did not read. */
  closedWaiting = 0;
  /** Connections closed on arrival. */
  refused = 0;

  /**
   * @param trustedProxies their connections are not grouped by network, because they serve many
   *   clients
   */
  constructor(limit: number, trustedProxies: readonly Network[] = []) {
    this.limit = limit;
    this.#trustedProxies = trustedProxies;
  }

  /**
   * Returns the networks to count a connection in, widest first, or an empty list for a trusted
   * proxy.
   */
  countedNetworks(peerAddress: string): readonly string[] {
    const address = parseAddress(peerAddress);
    if (address !== null && within(address, this.#trustedProxies)) return [];
    return clientNetworks(address);
  }
}

/** Fallback if the descriptor limit cannot be read. */
const unknownDescriptors = 1_024;
/** Bounds the figures if there is no limit. */
const maxDescriptors = 2 ** 20;
/**
 * Descriptors for disk cache files, store connections, and the files that the process opens at its
 * start (about 40).
 */
const baseReserve = 128;
/** A transform thread uses four and a source copy; a transform process uses two. */
const perThread = 7;
/** A fetch uses one, and keeps up to one idle connection. */
const perFetch = 2;
/** For all reads and writes of the shared cache. */
const ofSharedCache = 64;
/** Share of the descriptors that connections always get, however large the reserve is. */
const minShare = 1 / 4;

/**
 * Returns the maximum connections of a front end, leaving descriptors for sources, files and the
 * store.
 *
 * @param descriptors the process's limit
 */
export function maxConnections(
  descriptors: number,
  {
    poolThreads,
    fetchConcurrency,
    sharedCacheUrl,
  }: Pick<Settings, 'poolThreads' | 'fetchConcurrency' | 'sharedCacheUrl'>,
): number {
  const reserve =
    baseReserve +
    perThread * (poolThreads + 1) +
    perFetch * fetchConcurrency +
    (sharedCacheUrl === null ? 0 : ofSharedCache);
  return Math.max(descriptors - reserve, Math.floor(descriptors * minShare));
}

/**
 * Returns this process's limit, which Node raises to the hard limit at its start, and which
 * children inherit.
 */
export async function descriptorLimit(): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run('/bin/sh', ['-c', 'ulimit -n']).catch(() => ({ stdout: '' }));
  if (stdout.trim() === 'unlimited') return maxDescriptors;
  return Math.min(Number.parseInt(stdout, 10) || unknownDescriptors, maxDescriptors);
}
