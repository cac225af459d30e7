/** Share of the limit to close at once, so that a flood of connections causes few searches. */
const batchShare = 1 / 64;

/**
 * A connection that waits for its client to send a complete request head, or to read the response.
 */
export interface WaitingConnection {
  /** See `Connections.networksOf`. A connection without networks competes alone. */
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
 * Returns how many connections each group can keep if this number is closed. @param sizes
 * descending
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
