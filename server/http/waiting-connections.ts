/** Part of the limit that is closed at once, so that a flood of connections costs one search in many. */
const batchPart = 1 / 64;

/** A connection that waits for its client, which sends no whole head of a request or does not read the response. */
export interface WaitingConnection {
  /** The client: see `networkOf`. */
  readonly network: string;
  close(): void;
}

/** The waiting connections of a server, by client. */
export class WaitingConnections {
  /** Each begins with the connection that has waited longest; the values are when it began. */
  readonly #byNetwork = new Map<string, Map<WaitingConnection, number>>();

  add(connection: WaitingConnection): void {
    const { network } = connection;
    const waiting = this.#byNetwork.get(network) ?? new Map<WaitingConnection, number>();
    this.#byNetwork.set(network, waiting.set(connection, performance.now()));
  }

  delete(connection: WaitingConnection): void {
    const waiting = this.#byNetwork.get(connection.network);
    if (waiting?.delete(connection) && waiting.size === 0)
      this.#byNetwork.delete(connection.network);
  }

  /**
   * Closes a part of the limit, at most: those of the clients with the most of them, the longest waiting first. So
   * nobody can push out the connections of others.
   *
   * @returns how many
   */
  closeSome(limit: number): number {
    const wanted = Math.ceil(limit * batchPart);
    const sets = [...this.#byNetwork.values()].sort(
      (a, b) => b.size - a.size || since(a) - since(b),
    );
    let closed = 0;
    for (let size = sets[0]?.size ?? 0; size > 0; size -= 1) {
      for (const waiting of sets) {
        if (waiting.size < size) break;
        if (closed === wanted) return closed;
        const [longest] = waiting.keys();
        if (longest === undefined) break;
        this.delete(longest);
        longest.close();
        closed += 1;
      }
    }
    return closed;
  }
}

const since = (waiting: ReadonlyMap<WaitingConnection, number>): number =>
  waiting.values().next().value ?? 0;
