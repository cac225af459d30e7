import { Agent, buildConnector, Pool } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import { type AddressGuard, portOf } from './guard.ts';

export interface ConnectionLimits {
  /** Connections to one origin. */
  readonly perOrigin: number;
  /** No phase of a request may take longer, ms. */
  readonly timeoutMs: number;
}

/** An idle connection is kept this long, ms: long enough for the next picture of the same page. */
const keepAliveMs = 4_000;
/** An origin may ask for more, up to this. */
const keepAliveMaxMs = 30_000;
/** Enough for any honest response head. */
const maxHeaderBytes = 16 * 1024;

/**
 * HTTP/1.1 connections that only ever lead to addresses that the guard allows. Proxy settings of
 * the environment are not honoured: a proxy would resolve names by itself, past the guard.
 */
export function openConnections(guard: AddressGuard, limits: ConnectionLimits): Agent {
  return new Agent({
    factory: (origin) =>
      new Pool(origin, {
        connect: connector(guard, portOf(new URL(origin)), limits.timeoutMs),
        connections: limits.perOrigin,
        pipelining: 1,
        allowH2: false,
        maxHeaderSize: maxHeaderBytes,
        // The deadline of the whole fetch comes first and says more; these catch what it leaves.
        headersTimeout: 2 * limits.timeoutMs,
        bodyTimeout: 2 * limits.timeoutMs,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMaxMs,
      }),
  });
}

/** A connector per origin, because a `lookup` is not told the port that it looks up for. */
function connector(guard: AddressGuard, port: number, timeout: number): buildConnector.connector {
  const connect = buildConnector({ lookup: guard.lookupFor(port), timeout, allowH2: false });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(asFailure(error, options), null);
      // undici opens a connection for a request that was aborted meanwhile and then neither uses nor
      // times it (nodejs/undici#5845). No request that is alive is silent for this long.
      socket.setTimeout(timeout, () => socket.destroy());
      callback(null, socket);
    });
}

function asFailure(error: Error, { hostname, protocol }: buildConnector.Options): ServiceError {
  // What the guard or the resolver said.
  if (error instanceof ServiceError) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new ServiceError(
      'source_timeout',
      `The source could not be fetched (connect): ${hostname} did not answer in time.`,
      error,
    );
  }
  const connected = !('syscall' in error && error.syscall === 'connect') && !isAggregate(error);
  const stage = connected && protocol === 'https:' ? 'TLS' : 'connect';
  return new ServiceError(
    'source_unreachable',
    `The source could not be fetched (${stage}): no connection to ${hostname}${inBrackets(code)}.`,
    error,
  );
}

/** All attempts failed where a name has several addresses. */
function isAggregate(error: Error): boolean {
  return error instanceof AggregateError;
}

/** An error's code when it is a plain word such as ECONNREFUSED, which tells no address. */
export function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : null;
}

export function inBrackets(code: string | null): string {
  return code === null ? '' : ` (${code})`;
}
