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

/** The store cannot be reached, or does not let this deployment in; the message says why. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';

  constructor(cause: string) {
    super(`The store is away: ${cause}.`);
  }
}

/** What is not named here is told in the error's own words. */
const systemErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'closes connections',
  EPIPE: 'closes connections',
  ETIMEDOUT: 'does not answer',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ENOTFOUND: 'is a name that nobody knows',
  EAI_AGAIN: 'is a name that cannot be looked up now',
  ENOENT: 'is not there',
  EACCES: 'may not be opened',
};

/** As Node names what OpenSSL reports: `CERT_HAS_EXPIRED`, `ERR_TLS_CERT_ALTNAME_INVALID` … */
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;
const tlsMessage = /secure TLS|\bSSL\b|certificate/i;

/** `SERVICE_MONGODB_URL` is none that the driver understands; the message says why. */
export class StoreUrlInvalid extends Error {
  override readonly name = 'StoreUrlInvalid';

  constructor(reason: unknown) {
    super(`SERVICE_MONGODB_URL cannot be used: ${outageInWords(reason)}.`);
  }
}

const authenticationFailed = 18;
/** Atlas answers refused credentials with a code of its own. */
const atlasError = 8_000;

/**
 * Codes of a server that cannot serve now: those after which the driver specifications ("Retryable
 * Writes") have a driver try again.
 */
const passingCodes: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 189, 262, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

const refusesCredentials = (error: MongoServerError): boolean =>
  error.code === authenticationFailed || error.code === atlasError;

/** Whether an operation failed because the store is away, and not because of what was asked. */
export function isOutage(error: unknown): boolean {
  if (error instanceof MongoServerError) {
    return passingCodes.has(error.code) || refusesCredentials(error);
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoNotConnectedError ||
    // No connection came free. The driver does not export the class.
    (error instanceof MongoError && error.name === 'MongoWaitQueueTimeoutError')
  );
}

/** Why the store is away, for an operator. No user names and passwords of a URL are repeated. */
export function outageInWords(error: unknown): string {
  if (error instanceof MongoServerSelectionError && error.reason !== undefined) {
    return topologyInWords(error.reason);
  }
  if (error instanceof MongoServerError) {
    const said = `${withoutCredentials(error.message)} (code ${error.code})`;
    return refusesCredentials(error) ? `authentication failed: ${said}` : said;
  }
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}

function topologyInWords({ servers, setName }: TopologyDescription): string {
  const all = [...servers.values()];
  if (all.length === 0) return `no server belongs to the replica set ${setName}`;
  const unknown = all.filter(({ type }) => type === ServerType.Unknown);
  const failures = unknown.map(({ address, error }) => `${address} ${serverInWords(error)}`);
  const others = all.filter(({ type }) => type !== ServerType.Unknown);
  if (others.length > 0) {
    failures.push(`no primary among ${others.map(({ address }) => address).join(', ')}`);
  }
  return failures.join(', ');
}

/** What is wrong with a server, as its monitor in the driver has found. */
function serverInWords(error: Error | null): string {
  if (error === null || error instanceof MongoNetworkTimeoutError) return 'does not answer';
  const code = String((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '');
  const known = systemErrors[code];
  if (known !== undefined && !tlsMessage.test(error.message)) return `${known} (${code})`;
  const said = withoutCredentials(error.message);
  if (/^connection .* closed$/.test(said)) return 'closes connections';
  return tlsCode.test(code) || tlsMessage.test(said) ? `fails at TLS: ${said}` : `fails: ${said}`;
}

const withoutCredentials = (text: string): string => text.replaceAll(/\/\/[^/\s]*@/g, '//');
