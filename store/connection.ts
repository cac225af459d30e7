import { setTimeout as sleep } from 'node:timers/promises';
import { type MongoClient, MongoNotConnectedError, MongoTopologyClosedError } from 'mongodb';
import { watchHeartbeats } from './heartbeats.ts';
import { isOutage, outageInWords, StoreAway } from './outage.ts';

/** Hears why the store is away, and again when that is of another kind; null when it is over. */
export type OnOutage = (cause: string | null) => void;

const waitMs = { first: 250, most: 5_000 };

interface Patience {
  readonly signal: AbortSignal;
  readonly onOutage: OnOutage;
  /** Which failures may pass; those of the store when absent. */
  readonly passes?: (error: unknown) => boolean;
}

/**
 * Does something that needs the store, and again for as long as the store is away.
 *
 * The waits grow for the sake of failures that come at once, such as refused credentials. They are
 * counted from an attempt's begin: one that waits for a server to answer lasts as long as the
 * driver's server selection, which looks for the server all that time, and is followed by the next
 * one soon, so that a server that comes is noticed within a second.
 */
export async function throughOutages<T>(
  attempt: () => Promise<T>,
  { signal, onOutage, passes = isOutage }: Patience,
): Promise<T> {
  // By the errors' names: their texts may count connections, and would fill a log.
  const told = new Set<string>();
  for (let pauseMs = waitMs.first; ; pauseMs = Math.min(2 * pauseMs, waitMs.most)) {
    signal.throwIfAborted();
    const startedAt = performance.now();
    try {
      const result = await attempt();
      if (told.size > 0) onOutage(null);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!passes(error)) throw error;
      const kind = error instanceof Error ? error.name : '';
      if (!told.has(kind)) onOutage(outageInWords(error));
      told.add(kind);
    }
    const passedMs = performance.now() - startedAt;
    await sleep(Math.max(waitMs.first, pauseMs - passedMs), undefined, { signal });
  }
}

/**
 * Connects a client, for as long as that takes.
 *
 * The driver connects by itself when it is first used, but once: after a failure every operation
 * is refused until somebody calls `connect()`. From the first success on it recovers alone, but for
 * a heartbeat that never ends, after which it is connected anew.
 */
export class Connection {
  readonly #client: MongoClient;
  readonly #closing = new AbortController();
  readonly #onOutage: OnOutage;
  /** For the first time. */
  readonly #connected: Promise<void>;
  #connecting: Promise<void>;
  #cause = 'it has not answered yet';

  constructor(client: MongoClient, onOutage: OnOutage) {
    this.#client = client;
    this.#onOutage = (cause) => {
      this.#cause = cause ?? this.#cause;
      onOutage(cause);
    };
    this.#connected = this.#connect();
    this.#connecting = this.#connected;
    // Only `close` makes it fail.
    this.#connected.then(
      () => watchHeartbeats(client, () => this.#reconnect()),
      () => {},
    );
  }

  /**
   * Resolves when the store has answered for the first time. Rejects with the signal's reason, or
   * when the connection is closed.
   */
  established(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#connected;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#connected
        .finally(() => signal.removeEventListener('abort', abort))
        .then(resolve, reject);
    });
  }

  /** What an operation failed with; the reason where the driver only says that it is closed. */
  explain(error: unknown): unknown {
    const closed =
      error instanceof MongoTopologyClosedError || error instanceof MongoNotConnectedError;
    return closed ? new StoreAway(this.#cause) : error;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client.close();
    // An attempt that was still looking for its servers has connected after that.
    await this.#connecting.catch(() => {});
    await this.#client.close();
  }

  #connect(): Promise<void> {
    return throughOutages(() => connect(this.#client), {
      signal: this.#closing.signal,
      onOutage: this.#onOutage,
      // Also a name without records, or a certificate's file that is not there yet.
      passes: () => true,
    });
  }

  #reconnect(): void {
    if (this.#closing.signal.aborted) return;
    this.#connecting = this.#connecting
      .then(() => this.#client.close())
      .catch(() => {})
      .then(() => this.#connect());
    this.#connecting.catch(() => {});
  }
}

async function connect(client: MongoClient): Promise<void> {
  await client.connect();
  // An operation that came first may have begun to connect, and that does not try the credentials.
  await client.db('admin').command({ ping: 1 });
}

/** Says in a log when the store is away and when that is over. */
export function logOutages(log: {
  error(message: string): void;
  info(message: string): void;
}): OnOutage {
  let away = false;
  return (cause) => {
    if (cause === null) log.info('the store answers');
    else if (away) log.error(`the store is still away: ${cause}`);
    else log.error(`the store is away: ${cause}; trying until it answers`);
    away = cause !== null;
  };
}
