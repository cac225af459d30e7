import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Network, parseAddress, within } from '../../contract/networks.ts';
import type { EngineSettings } from '../../pool/settings.ts';
import { clientNetworks } from './client-address.ts';

/** The client connections of one process. The totals are since its start. */
export class Connections {
  /** Connections above the limit are closed. */
  readonly limit: number;
  readonly #trustedProxies: readonly Network[];
  open = 0;
  /** Of clients that sent no request or did not read, for the sake of others. */
  closedWaiting = 0;
  /** Closed when they were accepted. */
  refused = 0;

  /** @param trustedProxies networks whose connections are not counted together, because they serve many clients */
  constructor(limit: number, trustedProxies: readonly Network[] = []) {
    this.limit = limit;
    this.#trustedProxies = trustedProxies;
  }

  /** Returns the networks for which a connection counts, the widest first: none for a trusted proxy. */
  networksOf(peerAddress: string): readonly string[] {
    const address = parseAddress(peerAddress);
    if (address !== null && within(address, this.#trustedProxies)) return [];
    return clientNetworks(address);
  }
}

/** Used when the limit of descriptors cannot be read. */
const unknownDescriptors = 1_024;
/** Without a limit, a bound of the figures. */
const maxDescriptors = 2 ** 20;
/** Files of the disk cache and the store's connections, with what the process has open at its start (some 40). */
const baseReserve = 128;
/** A transform thread has four and a source's copy, and a transform process two. */
const perThread = 7;
/** A source that is fetched has one, and as many connections may be kept. */
const perFetch = 2;
/** For reads and writes of the shared cache together. */
const ofSharedCache = 64;
/** Of the descriptors, for connections, however large the reserve is. */
const minShare = 1 / 4;

/**
 * The connections that a front end may have, so that sources, files and the store always get a descriptor.
 *
 * @param descriptors the limit of the process
 */
export function maxConnections(
  descriptors: number,
  {
    threads,
    fetchConcurrency,
    sharedCache,
  }: Pick<EngineSettings, 'threads' | 'fetchConcurrency' | 'sharedCache'>,
): number {
  const reserve =
    baseReserve +
    perThread * (threads + 1) +
    perFetch * fetchConcurrency +
    (sharedCache === null ? 0 : ofSharedCache);
  return Math.max(descriptors - reserve, Math.floor(descriptors * minShare));
}

/** The limit of this process, which Node raises to the hard limit when it starts. A child inherits it. */
export async function descriptorLimit(): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run('/bin/sh', ['-c', 'ulimit -n']).catch(() => ({ stdout: '' }));
  if (stdout.trim() === 'unlimited') return maxDescriptors;
  return Math.min(Number.parseInt(stdout, 10) || unknownDescriptors, maxDescriptors);
}
