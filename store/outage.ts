import {
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  ServerType,
  type TopologyDescription,
} from 'mongodb';

/** The store is unreachable or rejects the credentials. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';

  readonly reason: string;

  constructor(reason: string) {
    super(`The store is unavailable: ${reason}.`);
    this.reason = reason;
  }
}

const systemErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'closes connections',
  EPIPE: 'closes connections',
  ETIMEDOUT: 'does not respond',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ENOTFOUND: 'is an unknown host name',
  EAI_AGAIN: 'is a host name that cannot be resolved now',
  ENOENT: 'does not exist',
  EACCES: 'cannot be opened',
};

/** The driver rejects `SERVICE_MONGODB_URL`. */
export class StoreUrlInvalid extends Error {
  override readonly name = 'StoreUrlInvalid';

  constructor(reason: unknown) {
    super(`SERVICE_MONGODB_URL cannot be used: ${describeOutage(reason)}.`);
  }
}

const outOfDiskSpace = 14_031;
/**
 * Codes of temporary errors: retryable errors in the MongoDB driver specifications ("Retryable
 * Writes"), and the error for a full disk.
 */
const temporaryCodes: ReadonlySet<unknown> = new Set([
  6,
  7,
  89,
  91,
  189,
  262,
  9_001,
  10_107,
  11_600,
  11_602,
  13_435,
  13_436,
  outOfDiskSpace,
]);

/**
 * Errors that the operator can fix in the store while the service waits: permissions and credentials
 * (8000 is Atlas's own code).
 */
const refusals: Readonly<Record<string, string>> = {
  13: 'permission denied',
  18: 'authentication failed',
  8000: 'authentication failed',
};

/** Names of driver errors during a reconnect; the driver does not export some of these classes. */
const clientErrors: ReadonlySet<string> = new Set([
  // No connection of the pool became free.
  'MongoWaitQueueTimeoutError',
  'MongoPoolClosedError',
  'MongoClientClosedError',
  'MongoExpiredSessionError',
]);

/**
 * Codes of broken connections. While a command waits to be written, the driver rejects it with the
 * socket's own error (mongodb 7.8.0, cmap/connection.js, writeCommand).
 */
const socketCodes: ReadonlySet<unknown> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
]);

/** Returns whether a write failed because the store is full; reads still work. */
export const isFull = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === outOfDiskSpace;

/** Whether an operation failed because the store is unavailable, not because of the operation. */
export function isOutage(error: unknown): boolean {
  if (error instanceof MongoServerError) {
    return temporaryCodes.has(error.code) || String(error.code) in refusals;
  }
  return (
    error instanceof StoreUnavailable ||
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoNotConnectedError ||
    (error instanceof MongoError && clientErrors.has(error.name)) ||
    (error instanceof Error && 'syscall' in error && 'code' in error && socketCodes.has(error.code))
  );
}

/** Describes an error for an operator, without the user names and passwords of URLs. */
export function describeOutage(error: unknown): string {
  if (error instanceof MongoServerSelectionError && error.reason !== undefined) {
    return describeTopology(error.reason);
  }
  if (error instanceof MongoServerError) {
    const message = `${withoutCredentials(error.message)} (code ${error.code})`;
    const refusal = refusals[String(error.code)];
    return refusal === undefined ? message : `${refusal}: ${message}`;
  }
  if (error instanceof StoreUnavailable) return error.reason;
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}

function describeTopology({ servers, setName }: TopologyDescription): string {
  const all = [...servers.values()];
  if (all.length === 0) return `no server belongs to the replica set ${setName}`;
  const unknown = all.filter(({ type }) => type === ServerType.Unknown);
  const failures = unknown.map(({ address, error }) => `${address} ${describeServer(error)}`);
  const others = all.filter(({ type }) => type !== ServerType.Unknown);
  if (others.length > 0) {
    failures.push(`no primary among ${others.map(({ address }) => address).join(', ')}`);
  }
  return failures.join(', ');
}

/** @param error the last one of the driver's monitor of the server */
function describeServer(error: Error | null): string {
  if (error === null || error instanceof MongoNetworkTimeoutError) return 'does not respond';
  const code = String((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '');
  const known = systemErrors[code];
  if (known !== undefined) return `${known} (${code})`;
  const message = withoutCredentials(error.message);
  return /^connection .* closed$/.test(message) ? 'closes connections' : `fails: ${message}`;
}

const withoutCredentials = (text: string): string => text.replaceAll(/\/\/[^/\s]*@/g, '//');

/**
 * A request must fail within two seconds when the store does not respond. The driver's own timeouts
 * add up, because it retries a read on a new connection.
 */
const operationTimeoutMs = 1_500;

/**
 * Limits the wait for a store operation. The operation continues after a timeout: a write can still
 * take effect.
 * @throws StoreUnavailable after the timeout
 */
export async function withTimeout<T>(
  operation: Promise<T>,
  timeoutMs = operationTimeoutMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    const seconds = timeoutMs / 1_000;
    const fail = () => reject(new StoreUnavailable(`it has not answered within ${seconds} s`));
    // If this process was blocked, a reply can be waiting; the event loop reads it before an
    // immediate.
    timer = setTimeout(() => setImmediate(fail), timeoutMs);
  });
  try {
    return await Promise.race([operation, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
