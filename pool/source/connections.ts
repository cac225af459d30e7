import { Agent, buildConnector, type Dispatcher, Pool } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import { codeOf, fetchFailureText } from './fetch-errors.ts';
import { type AddressGuard, portOf } from './guard.ts';

export interface ConnectionLimits {
  /** Maximum connections to one origin. */
  readonly perOrigin: number;
  /** Above this number of open connections none is kept after its response. */
  readonly kept: number;
  /** Timeout of each phase of a request, in ms. */
  readonly timeoutMs: number;
}

/** The connections to all origins. */
export interface Connections {
  /** Number of open connections, in use or kept. */
  readonly open: number;
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  destroy(): Promise<void>;
}

interface Open {
  count: number;
}

/** Keep-alive timeout, in ms: long enough for the next image of the same page. */
const keepAliveMs = 4_000;
/** The maximum that an origin can set by its Keep-Alive header, in ms. */
const keepAliveMaxMs = 30_000;
const maxHeaderBytes = 16 * 1024;

/**
 * Opens HTTP/1.1 connections to addresses that the guard allows. Proxy settings of the environment are
 * ignored: a proxy would resolve host names itself and bypass the guard.
 */
export function openConnections(guard: AddressGuard, limits: ConnectionLimits): Connections {
  const open: Open = { count: 0 };
  const agent = new Agent({
    factory: (origin) =>
      new Pool(origin, {
        connect: connector(guard, portOf(new URL(origin)), limits.timeoutMs, open),
        connections: limits.perOrigin,
        pipelining: 1,
        allowH2: false,
        maxHeaderSize: maxHeaderBytes,
        // Fallbacks: the timeout of the whole fetch is shorter and has a more specific error message.
        headersTimeout: 2 * limits.timeoutMs,
        bodyTimeout: 2 * limits.timeoutMs,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMaxMs,
      }),
  });
  return {
    get open() {
      return open.count;
    },
    // Clients determine the number of origins, each of which may keep connections.
    request: (options) => agent.request({ ...options, reset: open.count > limits.kept }),
    destroy: () => agent.destroy(),
  };
}

/** One connector per origin, because Node does not pass the port to `lookup`. */
function connector(
  guard: AddressGuard,
  port: number,
  timeout: number,
  open: Open,
): buildConnector.connector {
  const connect = buildConnector({ lookup: guard.lookupFor(port), timeout, allowH2: false });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(asFailure(error, options), null);
      // undici completes a connection whose request was aborted in the meantime, and then neither uses nor
      // closes it (nodejs/undici#5845). An active request is never idle this long.
      socket.setTimeout(timeout, () => socket.destroy());
      open.count += 1;
      socket.once('close', () => {
        open.count -= 1;
      });
      callback(null, socket);
    });
}

function asFailure(error: Error, { hostname, protocol }: buildConnector.Options): ServiceError {
  // Thrown by the guard or the resolver.
  if (error instanceof ServiceError) return error;
  if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT') {
    return new ServiceError(
      'source_timeout',
      `The source could not be fetched (connect): ${hostname} did not respond in time.`,
      error,
    );
  }
  // An AggregateError has the errors of all addresses of a host.
  const isConnect = 'syscall' in error && error.syscall === 'connect';
  const connected = !isConnect && !(error instanceof AggregateError);
  const stage = connected && protocol === 'https:' ? 'TLS' : 'connect';
  return new ServiceError(
    'source_unreachable',
    fetchFailureText(stage, error, hostname, `no connection to ${hostname}`),
    error,
  );
}
