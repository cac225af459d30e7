import { LRUCache } from 'lru-cache';
import { networkOf } from './client-address.ts';
import type { Connections } from './connection-limit.ts';

/** uWebSockets.js closes a connection that waits for a request after this time. */
const idleMs = 12_000;
/** Clients whose connections are counted. */
const maxClients = 10_000;

const noCounts = () => new LRUCache<string, number>({ max: maxClients });

/**
 * Admits connections of uWebSockets.js, which shows a connection when it is accepted and counts it when it closes,
 * without saying which: so new ones are refused, instead of idle ones closed.
 *
 * A client gets no further connection when as many of its connections wait for a request as are left for all
 * (the dynamic threshold of Choudhury and Hahne, 1998). Connections are counted while more than half are open: so one
 * client can take three quarters of the connections, and leaves a quarter. A client that sends its requests is not
 * limited.
 */
export class Admission {
  readonly #connections: Connections;
  /** Connections that wait for a request, by client, since the last change of periods. */
  #recent = noCounts();
  /** Those of the period before. Older ones are closed. */
  #earlier = noCounts();
  #periodFrom = performance.now();

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
    this.#changePeriods();
    const { open, limit } = this.#connections;
    // Negative above the limit.
    const left = limit - open;
    const network = networkOf(peerAddress);
    const silent = (this.#recent.get(network) ?? 0) + (this.#earlier.get(network) ?? 0);
    if (silent > left) return false;
    this.#recent.set(network, (this.#recent.get(network) ?? 0) + 1);
    return true;
  }

  /** A client has sent a request, the last one of its connection. */
  requested(peerAddress: string): void {
    const network = networkOf(peerAddress);
    for (const counts of [this.#recent, this.#earlier]) {
      const silent = counts.get(network) ?? 0;
      if (silent > 0) return void counts.set(network, silent - 1);
    }
  }

  /** Forgets old counts, because connections also close without being shown. */
  #changePeriods(): void {
    const age = performance.now() - this.#periodFrom;
    if (age < idleMs) return;
    this.#earlier = age < 2 * idleMs ? this.#recent : noCounts();
    this.#recent = noCounts();
    this.#periodFrom = performance.now();
  }
}
