import { EventEmitter } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import { Pool } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import { type PrivateSource, parseAddress, within } from '../../contract/networks.ts';
import { findErrorCode } from './fetch-errors.ts';

/** Where a socket connects to: an address that the guard allows, for a host. */
export interface Target {
  /** An IP address. */
  readonly host: string;
  readonly port: number;
  readonly hostname: string;
}

/** A connection being opened. Emits `error`, or `connect`, with the socket unless it is a socket. */
export interface Opening extends EventEmitter {
  destroy(): unknown;
}

const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** Opens a connection without a proxy. */
export const openDirectly = ({ host, port }: Target): Opening =>
  connect({ host, port, ...socketOptions });

/** Longer headers than any proxy's, in bytes. */
const maxHeaderBytes = 16_384;

/**
 * Opens connections by the operator's HTTP proxy. It gets the address that the guard has checked,
 * not the name, so it cannot resolve the name to another address. TLS is inside of the tunnel.
 */
export class EgressProxy {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #exceptions: readonly PrivateSource[];

  /**
   * @param url can contain a user name and a password
   * @param exceptions the hosts and networks without the proxy
   */
  constructor(url: string, exceptions: readonly PrivateSource[], timeoutMs: number) {
    const { origin, username, password } = new URL(url);
    const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    this.#headers =
      username === '' ? {} : { 'proxy-authorization': `Basic ${user.toString('base64')}` };
    this.#exceptions = exceptions;
    this.#pool = new Pool(origin, {
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      maxHeaderSize: maxHeaderBytes,
    });
  }

  open(target: Target): Opening {
    return this.#isException(target) ? openDirectly(target) : this.#openTunnel(target);
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  #isException({ host, port, hostname }: Target): boolean {
    const address = parseAddress(host);
    const name = canonicalHost(hostname) ?? hostname;
    return this.#exceptions.some(
      (entry) =>
        (entry.ports?.includes(port) ?? true) &&
        ('hosts' in entry
          ? hostMatches([entry.hosts], name)
          : address !== null && within(address, [entry.network])),
    );
  }

  #openTunnel({ host, port }: Target): Opening {
    const ending = new AbortController();
    const opening = Object.assign(new EventEmitter(), { destroy: () => ending.abort() });
    const fail = (what: string, cause?: unknown) => {
      if (!ending.signal.aborted) opening.emit('error', refused(what, cause));
    };
    const path = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    this.#pool.connect({ path, headers: this.#headers, signal: ending.signal }).then(
      ({ statusCode, socket }) => {
        const isOpen = statusCode >= 200 && statusCode < 300;
        if (isOpen && !ending.signal.aborted) opening.emit('connect', socket);
        else socket.on('error', () => {}).destroy();
        if (!isOpen) fail(`returned ${statusCode}`);
      },
      (error) => fail(`cannot be reached (${findErrorCode(error) ?? 'unknown'})`, error),
    );
    return opening;
  }
}

const refused = (what: string, cause?: unknown): ServiceError =>
  new ServiceError(
    'source_unreachable',
    `The source could not be fetched (connect): this service's egress proxy ${what}.`,
    cause,
    { hint: 'Ask the operator to check SERVICE_SOURCE_PROXY, and the log of that proxy.' },
  );
