import { Agent, type buildConnector, type Dispatcher, Pool } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import { createConnector } from './connect.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { fetchFailureText, findErrorCode, outOfDescriptors } from './fetch-errors.ts';
import { AddressGuard, type GuardOptions, getPort } from './guard.ts';
import { MeteredClient, type MeteredClientOptions, type MeteredRequest } from './metered-client.ts';

export interface ConnectionLimits {
  /** Maximum connections to one origin. */
  readonly perOrigin: number;
  /** While more connections are open, each closes after its response. */
  readonly kept: number;
  /** Timeout per request phase, in ms. */
  readonly timeoutMs: number;
  /** Null for direct connections. */
  readonly proxy?: EgressProxy | null;
}

/** Keep-alive timeout, in ms: long enough for the next image of the same page. */
const keepAliveMs = 4_000;
/** The maximum that an origin can set by its Keep-Alive header, in ms. */
const keepAliveMaxMs = 30_000;
const maxHeaderBytes = 16 * 1024;

/**
 * HTTP/1.1 connections to addresses that the guard allows. Ignores HTTP_PROXY and similar variables,
 * which the start logs: a proxy that resolves host names itself would bypass the guard.
 */
export class Connections {
  readonly #agent: Agent;
  readonly #kept: number;
  #open = 0;

  constructor(guard: AddressGuard, { perOrigin, kept, timeoutMs, proxy }: ConnectionLimits) {
    this.#kept = kept;
    const connect = this.#connector(guard, timeoutMs, proxy ?? null);
    this.#agent = new Agent({
      factory: (origin) =>
        new Pool(origin, {
          connect,
          connections: perOrigin,
          factory: (url, options) => new MeteredClient(url, options as MeteredClientOptions),
          maxHeaderSize: maxHeaderBytes,
          // Fallbacks: the whole fetch's timeout is shorter, with a more specific error message.
          headersTimeout: 2 * timeoutMs,
          bodyTimeout: 2 * timeoutMs,
          keepAliveTimeout: keepAliveMs,
          keepAliveMaxTimeout: keepAliveMaxMs,
        }),
    });
  }

  /** Number of open connections, in use or kept. */
  get open(): number {
    return this.#open;
  }

  dispatch(request: MeteredRequest, handler: Dispatcher.DispatchHandler): void {
    // Clients determine the number of origins, and each can keep connections.
    this.#agent.dispatch({ ...request, reset: this.#open > this.#kept }, handler);
  }

  destroy(): Promise<void> {
    return this.#agent.destroy();
  }

  #connector(
    guard: AddressGuard,
    timeout: number,
    proxy: EgressProxy | null,
  ): buildConnector.connector {
    const find = (host: string, port: number) => guard.findAddresses(host, port);
    const open = proxy === null ? undefined : proxy.open.bind(proxy);
    const connect = createConnector(find, timeout, open);
    return (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(asFailure(error, options), null);
        // undici completes a connection even if its request was aborted, but does not use or close
        // it (nodejs/undici#5845). An active request is never idle this long.
        socket.setTimeout(timeout, () => socket.destroy());
        this.#open += 1;
        socket.once('close', () => {
          this.#open -= 1;
        });
        callback(null, socket);
      });
  }
}

function asFailure(error: Error, { hostname, protocol }: buildConnector.Options): ServiceError {
  // Thrown by the guard or the resolver.
  if (error instanceof ServiceError) return error;
  const overloaded = outOfDescriptors(error);
  if (overloaded !== null) return overloaded;
  if (findErrorCode(error) === 'UND_ERR_CONNECT_TIMEOUT') {
    const text = `The source could not be fetched (connect): ${hostname} did not respond in time.`;
    return new ServiceError('source_timeout', text, error);
  }
  const isConnect = 'syscall' in error && error.syscall === 'connect';
  const stage = !isConnect && protocol === 'https:' ? 'TLS' : 'connect';
  const text = fetchFailureText(stage, error, hostname, `no connection to ${hostname}`);
  return new ServiceError('source_unreachable', text, error);
}

/** Connections, with the guard that checks their addresses. */
export interface Network {
  readonly guard: AddressGuard;
  readonly connections: Connections;
}

/**
 * Connections to hosts that the operator has configured, even in private networks. Only for
 * endpoints from the settings, never for URLs from a client.
 */
export class TrustedEndpoints {
  readonly #guardOptions: Omit<GuardOptions, 'privateSources'>;
  readonly #limits: ConnectionLimits;
  readonly #endpoints = new Map<string, Network>();

  constructor(guardOptions: Omit<GuardOptions, 'privateSources'>, limits: ConnectionLimits) {
    this.#guardOptions = guardOptions;
    this.#limits = limits;
  }

  get open(): number {
    let open = 0;
    for (const { connections } of this.#endpoints.values()) open += connections.open;
    return open;
  }

  /** Returns a guard and connections that allow only a URL's scheme, host and port. */
  at(url: URL): Network {
    const known = this.#endpoints.get(url.origin);
    if (known !== undefined) return known;
    const privateSources = [`${url.hostname}:${getPort(url)}`];
    const guard = new AddressGuard({ ...this.#guardOptions, privateSources });
    const endpoint = { guard, connections: new Connections(guard, this.#limits) };
    this.#endpoints.set(url.origin, endpoint);
    return endpoint;
  }

  async destroy(): Promise<void> {
    await Promise.all(
      [...this.#endpoints.values()].map((endpoint) => endpoint.connections.destroy()),
    );
  }
}
