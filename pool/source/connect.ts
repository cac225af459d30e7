import { constants } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { type Opening, openDirectly, type Target } from './egress-proxy.ts';

/** Time until the next address is tried, while earlier attempts go on (RFC 8305, 5). */
const nextAttemptMs = 250;
/** Maximum addresses per connection, because each attempt takes a descriptor. */
const maxAddresses = 8;

/** Up to TLS 1.2 a server could request one handshake after the other. */
const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;

/**
 * Returns the addresses that a socket may connect to, at least one.
 * @param host a name, or an IP address without brackets
 * @throws Error for a host that must not be used
 */
export type FindAddresses = (host: string, port: number) => Promise<readonly LookupAddress[]>;

type Open = (target: Target) => Opening;

/**
 * Creates undici's connector for HTTP/1.1. Node's own selection of addresses ends each attempt
 * before it starts the next: with its 250 ms it does not reach a distant origin that has a dead
 * address too, and with more it waits as long for each dead address.
 *
 * @param timeoutMs for the TCP connection, and again for the TLS handshake
 * @param open opens a connection to an address; default: without a proxy
 */
export function createConnector(
  findAddresses: FindAddresses,
  timeoutMs: number,
  open: Open = openDirectly,
): buildConnector.connector {
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false, secureOptions });
  return (options, callback) => {
    const { protocol, hostname } = options;
    const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
    findAddresses(hostname, port).then(
      (addresses) =>
        connectToAny(addresses, { port, hostname }, { timeoutMs, open }, (error, socket) => {
          if (socket === null) callback(error, null);
          else if (protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        }),
      // Outside of the promise, so that it does not catch the callback's errors.
      (error) => process.nextTick(callback, error, null),
    );
  };
}

/**
 * Connects to the first address that accepts: tries one after the other, each 250 ms after the one
 * before, sooner with a short timeout, or at once after a failure, and ends the others.
 */
function connectToAny(
  addresses: readonly LookupAddress[],
  target: Omit<Target, 'host'>,
  { timeoutMs, open }: { readonly timeoutMs: number; readonly open: Open },
  callback: (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
): void {
  const waiting = interleaved(addresses).slice(0, maxAddresses);
  // Within a short deadline, the last address needs time too.
  const waitMs = Math.min(nextAttemptMs, timeoutMs / 2 / waiting.length);
  const attempts = new Set<Opening>();
  let firstError: Error | null = null;
  let timer: NodeJS.Timeout | undefined;

  const end = () => {
    clearTimeout(timer);
    clearTimeout(deadline);
    for (const attempt of attempts) attempt.destroy();
  };
  const deadline = setTimeout(() => {
    end();
    callback(new errors.ConnectTimeoutError(), null);
  }, timeoutMs);
  const tryNext = () => {
    clearTimeout(timer);
    const next = waiting.shift();
    if (next === undefined) {
      if (attempts.size > 0) return;
      end();
      callback(firstError ?? new Error('no address'), null);
      return;
    }
    timer = setTimeout(tryNext, waitMs);
    const attempt = open({ ...target, host: next.address });
    attempts.add(attempt);
    const onError = (error: Error) => {
      attempts.delete(attempt);
      firstError ??= error;
      tryNext();
    };
    attempt.once('error', onError).once('connect', (tunnel: Socket) => {
      attempts.delete(attempt);
      attempt.off('error', onError);
      end();
      callback(null, attempt instanceof Socket ? attempt : tunnel);
    });
  };
  tryNext();
}

/** Alternates between the families, from the first address's (RFC 8305, 4). */
function interleaved(addresses: readonly LookupAddress[]): LookupAddress[] {
  const family = addresses[0]?.family;
  const first = addresses.filter((address) => address.family === family);
  const second = addresses.filter((address) => address.family !== family);
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length));
}
