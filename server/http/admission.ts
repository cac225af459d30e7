import { LRUCache } from 'lru-cache';
import { type Connections, networkOf } from './connection-limit.ts';

/** uWebSockets.js closes a connection that waits for a request after this time. */
const idleMs = 12_000;
/** Clients whose connections are counted. */
const maxClients = 10_000;

/**
 * Admits connections of uWebSockets.js, which shows a connection when it is accepted and counts it when it closes,
 * without saying which: so new ones are refused, instead of idle ones closed.
 *
 * A client gets no further connection when as many of its connections wait for a request as are left for all
 * (the dynamic threshold of Choudhury and Hahne, 1998). So one client can take half of the connections,
 * and k clients leave the part 1 / (k + 1). A client that sends its requests is not limited.
 */
export class Admission {
  readonly #connections: Connections;
  /** Connections that wait for a request, by client, while many are open. */
  readonly #silent = new LRUCache<string, number>({ max: maxClients, ttl: idleMs });

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** More than half of the connections are open: clients are counted, and connections end with their response. */
  get crowded(): boolean {
    const { open, limit } = this.#connections;
    return open > limit / 2;
  }

  /** Whether a new connection may stay. It counts as open already. */
  admits(peerAddress: string): boolean {
    if (!this.crowded) return true;
    const { open, limit } = this.#connections;
    // Negative above the limit.
    const left = limit - open;
    const network = networkOf(peerAddress);
    const silent = this.#silent.get(network) ?? 0;
    if (silent > left) return false;
    this.#add(network, 1);
    return true;
  }

  /** A connection that has ended a request waits for the next one. */
  waits(peerAddress: string): void {
    this.#add(networkOf(peerAddress), 1);
  }

  /** A client has sent a request. */
  requested(peerAddress: string): void {
    this.#add(networkOf(peerAddress), -1);
  }

  /** The time of a count begins with its first connection, because connections also close without being shown. */
  #add(network: string, change: 1 | -1): void {
    const silent = Math.max(0, (this.#silent.get(network) ?? 0) + change);
    this.#silent.set(network, silent, { noUpdateTTL: true });
  }
}
