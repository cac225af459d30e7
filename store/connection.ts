import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient, MongoNotConnectedError, MongoTopologyClosedError } from 'mongodb';
import { describeOutage, isOutage, StoreUnavailable, StoreUrlInvalid } from './outage.ts';

/** The URL's database, or else `image_delivery` (the driver's default is `test`). */
function parseDatabase(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? 'image_delivery' : decodeURIComponent(named);
}

/** Runs after each command's reply or failure, with the duration in whole ms. */
export type OnCommand = (command: string, ms: number, ok: boolean) => void;

export interface ClientOptions {
  readonly onCommand?: OnCommand;
  /**
   * Whether to keep all connections open, because a slow store can take longer to accept a
   * connection than an operation's timeout.
   */
  readonly keepsConnections?: boolean;
}

/** Long enough for an election after a failover, short enough for a pending HTTP request. */
const timeoutMs = 5_000;
const maxConnections = 10;

/**
 * Returns an unconnected client and its database.
 * @throws StoreUrlInvalid
 */
export function createClient(
  url: string,
  { onCommand, keepsConnections = false }: ClientOptions = {},
): { client: MongoClient; db: Db } {
  // The driver would parse a part of the credentials as a host, and show it in errors.
  if (/^[^?]*@[^?]*@/.test(url)) {
    throw new StoreUrlInvalid('an @ within the user name or the password must be written as %40');
  }
  try {
    const client = new MongoClient(url, {
      appName: 'image-delivery',
      serverSelectionTimeoutMS: timeoutMs,
      connectTimeoutMS: timeoutMs,
      // A server can accept connections without responding.
      socketTimeoutMS: timeoutMs,
      waitQueueTimeoutMS: timeoutMs,
      maxPoolSize: maxConnections,
      minPoolSize: keepsConnections ? maxConnections : 0,
      ignoreUndefined: true,
      monitorCommands: onCommand !== undefined,
    });
    if (onCommand !== undefined) {
      client.on('commandSucceeded', (event) => onCommand(event.commandName, event.duration, true));
      client.on('commandFailed', (event) => onCommand(event.commandName, event.duration, false));
    }
    return { client, db: client.db(parseDatabase(url)) };
  } catch (error) {
    throw new StoreUrlInvalid(error);
  }
}

/** Runs with the cause when an outage starts or its cause changes, and with null when it ends. */
export type OnOutage = (cause: string | null) => void;

const backoffMs = { first: 250, max: 5_000 };

interface RetryOptions {
  readonly signal: AbortSignal;
  readonly onOutage: OnOutage;
  /** Selects the errors to retry; by default those caused by an outage. */
  readonly retries?: (error: unknown) => boolean;
}

/**
 * Runs an operation and retries it until the store's outage ends.
 *
 * The backoff grows, because some errors, such as rejected credentials, are immediate. It counts
 * from the start of an attempt: while no server responds, an attempt lasts as long as the driver's
 * server selection, which polls the servers and finds a recovered server within a second.
 */
export async function retryDuringOutages<T>(
  attempt: () => Promise<T>,
  { signal, onOutage, retries = isOutage }: RetryOptions,
): Promise<T> {
  // Keyed by error name: messages can contain connection numbers, so each would count as new.
  const reported = new Set<string>();
  for (let pauseMs = backoffMs.first; ; pauseMs = Math.min(2 * pauseMs, backoffMs.max)) {
    signal.throwIfAborted();
    const startedAt = performance.now();
    try {
      const result = await attempt();
      if (reported.size > 0) onOutage(null);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!retries(error)) throw error;
      const kind = error instanceof Error ? error.name : '';
      if (!reported.has(kind)) onOutage(describeOutage(error));
      reported.add(kind);
    }
    const elapsedMs = performance.now() - startedAt;
    await sleep(Math.max(backoffMs.first, pauseMs - elapsedMs), undefined, { signal });
  }
}

/**
 * Connects a client and retries until it succeeds: after a failed first attempt the driver rejects
 * every operation until the next `connect()`. After the first success the driver reconnects by
 * itself, except after a stuck heartbeat (see watchHeartbeats), when this class reconnects it.
 */
export class MongoConnection {
  readonly #client: MongoClient;
  readonly #closing = new AbortController();
  readonly #onOutage: OnOutage;
  /** The first successful connect. */
  readonly #connected: Promise<void>;
  #connecting: Promise<void>;
  #cause = 'it has not responded yet';

  constructor(client: MongoClient, onOutage: OnOutage) {
    this.#client = client;
    this.#onOutage = (cause) => {
      this.#cause = cause ?? this.#cause;
      onOutage(cause);
    };
    this.#connected = this.#connect();
    this.#connecting = this.#connected;
    // Rejects only after `close`.
    this.#connected.then(
      () => watchHeartbeats(client, () => this.#reconnect()),
      () => {},
    );
  }

  /** Resolves when the store has responded for the first time. Rejects on abort and on close. */
  established(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#connected;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.#connected.then(resolve, reject);
    });
  }

  /** Replaces the driver's error about a closed client by the cause of the outage. */
  explain(error: unknown): unknown {
    const closed =
      error instanceof MongoTopologyClosedError || error instanceof MongoNotConnectedError;
    return closed ? new StoreUnavailable(this.#cause) : error;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client.close();
    // An attempt in server selection can connect after the first close.
    await this.#connecting.catch(() => {});
    await this.#client.close();
  }

  #connect(): Promise<void> {
    return retryDuringOutages(() => connect(this.#client), {
      signal: this.#closing.signal,
      onOutage: this.#onOutage,
      // Retries even for a host name that lacks DNS records, or a missing certificate file.
      retries: () => true,
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
  // If an earlier operation started connecting, `connect` does not verify the credentials.
  await client.db('admin').command({ ping: 1 });
}

/** After a suspension, a process needs this time to read the responses that have arrived. */
const graceMs = 1_000;

/**
 * Calls `onLost` whenever the driver stops monitoring a server.
 *
 * If the driver writes a heartbeat while the server closes the connection, the heartbeat never ends
 * (driver 7.8: `writeCommand` awaits `drain` on a destroyed socket), and the server stays `Unknown`
 * after it recovers. This happens when a server that does not stream its state stops mid-operation.
 */
function watchHeartbeats(client: MongoClient, onLost: () => void): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  // The URL disables the timeout.
  if (connectTimeoutMS === 0) return;
  const pending = new Map<string, NodeJS.Timeout>();
  const ended = (address: string): void => {
    clearTimeout(pending.get(address));
    pending.delete(address);
  };
  client.on('serverHeartbeatStarted', ({ connectionId: address, awaited }) => {
    ended(address);
    // Connect and hello have this timeout each; a streaming server responds only after the
    // interval.
    const limitMs = 2 * connectTimeoutMS + (awaited ? heartbeatFrequencyMS : 0);
    const later = (ms: number, action: () => void) =>
      pending.set(address, setTimeout(action, ms).unref());
    later(limitMs, () => later(graceMs, onLost));
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => ended(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => ended(connectionId));
  client.on('serverClosed', ({ address }) => ended(address));
}

/** Pings a store and reports outages until the signal aborts, because Agenda retries silently. */
export async function watchForOutages(
  ping: (timeoutMs: number) => Promise<unknown>,
  { signal, onOutage }: Pick<RetryOptions, 'signal' | 'onOutage'>,
): Promise<void> {
  const everyMs = 2_000;
  const timeoutMs = 2_000;
  while (!signal.aborted) {
    const attempt = () => ping(timeoutMs);
    await retryDuringOutages(attempt, { signal, onOutage, retries: () => true })
      .then(() => sleep(everyMs, undefined, { signal }))
      // Only the signal ends the retries and the pause.
      .catch(() => {});
  }
}

/** Logs each outage: its start, each new cause, and its end with the duration. */
export function logOutages(log: {
  error(message: string): void;
  info(message: string): void;
}): OnOutage {
  let since: number | null = null;
  return (cause) => {
    if (cause === null) {
      const seconds = ((performance.now() - (since ?? performance.now())) / 1_000).toFixed(1);
      log.info(`store available after ${seconds} s`);
      since = null;
    } else if (since === null) {
      log.error(`store unavailable: ${cause}; retrying`);
      since = performance.now();
    } else {
      log.error(`store still unavailable: ${cause}`);
    }
  };
}
