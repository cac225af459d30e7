import type { WaitingConnection, WaitingConnections } from './waiting-connections.ts';

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
