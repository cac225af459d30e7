import { LRUCache } from 'lru-cache';
import type { Connections } from './connection-limit.ts';
import type { WaitingConnection, WaitingConnections } from './waiting-connections.ts';

/** uWebSockets.js closes a connection that waits for a request after this time. */
const idleMs = 12_000;
/** Networks whose connections are counted. */
const maxNetworks = 10_000;

const noCounts = () => new LRUCache<string, number>({ max: maxNetworks });

/**
 * Counts the connections of uWebSockets.js that wait for a request, by the widest network of their client, while more
 * than half of the connections are open. Some of them cannot be closed, because the library does not say which
 * connection of an address sent a request.
 *
 * A network gets no more connections when as many of its connections wait as are left for all (the dynamic threshold
 * of Choudhury and Hahne, 1998). So one network can take three quarters of the connections, and leaves a quarter. A
 * client that sends its requests is not limited.
 */
export class Admission {
  readonly #connections: Connections;
  /** Connections that wait for a request, by network, since the last change of periods. */
  #recent = noCounts();
  /** Counts of the period before. Older connections are closed. */
  #earlier = noCounts();
  #periodFrom = performance.now();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** More than half of the connections are open: networks are counted, and connections end with their response. */
  get isAboveHalf(): boolean {
    const { open, limit } = this.#connections;
    return open > limit / 2;
  }

  /** Returns whether a network may have one more connection, which counts as open already. */
  admits(network: string): boolean {
    const { open, limit } = this.#connections;
    this.#changePeriods();
    return (this.#recent.get(network) ?? 0) + (this.#earlier.get(network) ?? 0) <= limit - open;
  }

  add(network: string): void {
    this.#recent.set(network, (this.#recent.get(network) ?? 0) + 1);
  }

  /** Call it when a counted connection has sent its request or was closed. */
  delete(network: string): void {
    for (const counts of [this.#recent, this.#earlier]) {
      const waiting = counts.get(network) ?? 0;
      if (waiting > 0) return void counts.set(network, waiting - 1);
    }
  }

  /** Drops old counts, because the library closes connections without naming them. */
  #changePeriods(): void {
    const age = performance.now() - this.#periodFrom;
    if (age < idleMs) return;
    this.#earlier = age < 2 * idleMs ? this.#recent : noCounts();
    this.#recent = noCounts();
    this.#periodFrom = performance.now();
  }
}

/** The library's response object of an accepted connection. */
interface Accepted {
  close(): unknown;
  /** Called in every case until the connection has a response. */
  onAborted(handler: () => void): unknown;
}

/** A connection of uWebSockets.js without a request. */
interface SilentConnection extends WaitingConnection {
  readonly address: string;
}

/**
 * Connections of addresses that have sent no request since: these can be closed for the sake of others. The library
 * does not say which connection sent a request, and a connection that responds must not be used as silent: its memory is
 * freed when it closes, without a call. So a request takes all connections of its address from the set.
 */
export class SilentConnections {
  readonly #waiting: WaitingConnections;
  readonly #byAddress = new Map<string, Set<SilentConnection>>();

  /** @param waiting gets the connections while they are silent */
  constructor(waiting: WaitingConnections) {
    this.#waiting = waiting;
  }

  get isEmpty(): boolean {
    return this.#byAddress.size === 0;
  }

  /**
   * Adds a connection that was accepted.
   * @param onClose called if it closes before it has sent a request
   */
  add(res: Accepted, address: string, networks: readonly string[], onClose: () => void): void {
    // Its requests could not be recognised.
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

  /** Call it before a request is handled. @param address '' if the connection is closed already */
  requested(address: string): void {
    const addresses = address === '' ? [...this.#byAddress.keys()] : [address];
    for (const one of addresses) {
      for (const connection of this.#byAddress.get(one) ?? []) this.#delete(connection);
    }
  }

  #delete(connection: SilentConnection): void {
    const ofAddress = this.#byAddress.get(connection.address);
    if (!ofAddress?.delete(connection)) return;
    if (ofAddress.size === 0) this.#byAddress.delete(connection.address);
    this.#waiting.delete(connection);
  }
}
