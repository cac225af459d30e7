import { LRUCache } from 'lru-cache';
import type { ClientConnections } from './connection-limit.ts';

/** Share of the limit to close at once, so that a flood of connections causes few searches. */
const batchShare = 1 / 64;

/**
 * A connection that waits for its client to send a complete request head, or to read the response.
 */
export interface WaitingConnection {
  /** See `ClientConnections.countedNetworks`. A connection without networks competes alone. */
  readonly networks: readonly string[];
  close(): void;
}

export class WaitingConnections {
  /** By widest network, each in the order of waiting. */
  readonly #byNetwork = new Map<unknown, Set<WaitingConnection>>();

  add(connection: WaitingConnection): void {
    this.delete(connection);
    const key = toKey(connection, 0);
    const waiting = this.#byNetwork.get(key) ?? new Set();
    this.#byNetwork.set(key, waiting.add(connection));
  }

  delete(connection: WaitingConnection): void {
    const key = toKey(connection, 0);
    const waiting = this.#byNetwork.get(key);
    if (waiting?.delete(connection) && waiting.size === 0) this.#byNetwork.delete(key);
  }

  /**
   * Closes at most a share of the limit, choosing fairly, so that a client cannot push out others'
   * connections. Starts with the widest networks that have the most connections, then narrower
   * networks within them, then the longest waiting connection.
   *
   * @param network closes only connections of this widest network
   * @returns the number of closed connections
   */
  closeSome(limit: number, network?: string): number {
    const waiting =
      network === undefined
        ? [...this.#byNetwork.values()].flatMap((some) => [...some])
        : [...(this.#byNetwork.get(network) ?? [])];
    const chosen = choose(waiting, Math.ceil(limit * batchShare), 0);
    for (const connection of chosen) {
      this.delete(connection);
      connection.close();
    }
    return chosen.length;
  }
}

const toKey = (connection: WaitingConnection, level: number): unknown =>
  connection.networks[level] ?? connection;

/** Returns the connections to close. @param level index of the networks to compare */
function choose(
  waiting: readonly WaitingConnection[],
  count: number,
  level: number,
): readonly WaitingConnection[] {
  if (count >= waiting.length) return waiting;
  const groups = new Map<unknown, WaitingConnection[]>();
  for (const connection of waiting) {
    const key = toKey(connection, level);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [connection]);
    else group.push(connection);
  }
  // Sorting is stable: among equal groups, the longest waiting connection comes first.
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length);
  const kept = keptPerGroup(
    sorted.map((group) => group.length),
    count,
  );
  const chosen: WaitingConnection[] = [];
  for (const group of sorted) {
    const share = Math.min(group.length - kept, count - chosen.length);
    if (share <= 0) break;
    chosen.push(...choose(group, share, level + 1));
  }
  return chosen;
}

/**
 * Returns how many connections each group can keep if this number is closed.
 * @param sizes descending
 */
function keptPerGroup(sizes: readonly number[], count: number): number {
  let total = 0;
  for (const [index, size] of sizes.entries()) {
    total += size;
    const groups = index + 1;
    if (total - groups * (sizes[groups] ?? 0) >= count) return Math.floor((total - count) / groups);
  }
  return 0;
}

/** uWebSockets.js closes a connection after waiting this long for a request. */
const idleMs = 12_000;
/** Maximum networks to count connections of. */
const maxNetworks = 10_000;

/**
 * Counts uWebSockets.js connections that wait for a request, by their client's widest network,
 * while more than half of all connections are open. Some of them cannot be closed, because the
 * library does not report which connection of an address sent a request.
 *
 * A network gets no more connections when it has as many waiting ones as there are free connections
 * (the dynamic threshold of Choudhury and Hahne, 1998). So one network can take three quarters of
 * the connections, and leaves a quarter. Clients that send their requests are not limited.
 */
export class NetworkLimits {
  readonly #connections: ClientConnections;
  /**
   * Connections that wait for a request, by network. A network without new connections has no
   * waiting ones after the idle time, even if the library has closed some without naming them.
   */
  readonly #waiting = new LRUCache<string, number>({ max: maxNetworks, ttl: idleMs });

  constructor(connections: ClientConnections) {
    this.#connections = connections;
  }

  /**
   * Whether more than half of the connections are open: then networks are counted, and connections
   * end with their response.
   */
  get isAboveHalf(): boolean {
    const { open, limit } = this.#connections;
    return open > limit / 2;
  }

  /** Returns whether a network can open one more connection, which is already counted as open. */
  admits(network: string): boolean {
    const { open, limit } = this.#connections;
    return (this.#waiting.get(network) ?? 0) <= limit - open;
  }

  add(network: string): void {
    this.#waiting.set(network, (this.#waiting.get(network) ?? 0) + 1);
  }

  /** Call it when a counted connection has sent its request or closed. */
  delete(network: string): void {
    const waiting = this.#waiting.get(network) ?? 0;
    if (waiting > 0) this.#waiting.set(network, waiting - 1, { noUpdateTTL: true });
  }
}

/** The library's response object of an accepted connection. */
interface Accepted {
  close(): unknown;
  /** Called in every case until the connection sends a response. */
  onAborted(handler: () => void): unknown;
}

/** A uWebSockets.js connection before its first request. */
interface IdleConnection extends WaitingConnection {
  readonly address: string;
}

/**
 * Connections of addresses that have not sent a request since: they can be closed to make room. The
 * library does not report which connection sent a request. Touching a responding connection as a
 * silent one is unsafe: the library frees its memory on close, without a call. So a request removes
 * all connections of its address from the set.
 */
export class IdleConnections {
  readonly #waiting: WaitingConnections;
  readonly #byAddress = new Map<string, Set<IdleConnection>>();

  /** @param waiting holds the connections while they are silent */
  constructor(waiting: WaitingConnections) {
    this.#waiting = waiting;
  }

  get isEmpty(): boolean {
    return this.#byAddress.size === 0;
  }

  /**
   * Adds an accepted connection.
   * @param onClose called if it closes before sending a request
   */
  add(res: Accepted, address: string, networks: readonly string[], onClose: () => void): void {
    // Requests could not be matched to the connection.
    if (address === '') return;
    const connection = { address, networks, close: () => void res.close() };
    const ofAddress = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, ofAddress.add(connection));
    this.#waiting.add(connection);
    res.onAborted(() => {
      this.#delete(connection);
      onClose();
    });
  }

  /** Call it before handling a request. @param address '' if the connection is already closed */
  requested(address: string): void {
    const addresses = address === '' ? [...this.#byAddress.keys()] : [address];
    for (const remoteAddress of addresses) {
      for (const connection of this.#byAddress.get(remoteAddress) ?? []) this.#delete(connection);
    }
  }

  #delete(connection: IdleConnection): void {
    const ofAddress = this.#byAddress.get(connection.address);
    if (!ofAddress?.delete(connection)) return;
    if (ofAddress.size === 0) this.#byAddress.delete(connection.address);
    this.#waiting.delete(connection);
  }
}
