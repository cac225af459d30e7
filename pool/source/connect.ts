import { constants } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import { buildConnector, errors } from 'undici';

/**
 * Time for each address except the last, in ms. Node's default of 250 ms would give up a distant
 * origin that has a second, dead address.
 */
const attemptMs = 1_000;
const keepAliveMs = 60_000;

/** Up to TLS 1.2 a server could request one handshake after the other. */
const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;

/**
 * Returns the addresses that a socket may connect to, at least one.
 * @param host a name, or an IP address without brackets
 * @throws Error for a host that must not be used
 */
export type FindAddresses = (host: string, port: number) => Promise<readonly LookupAddress[]>;

/**
 * Creates undici's connector for HTTP/1.1. It connects only to the found addresses, so that a name
 * cannot change after a check.
 *
 * @param timeoutMs for the TCP connection, and again for the TLS handshake
 */
export function createConnector(
  findAddresses: FindAddresses,
  timeoutMs: number,
): buildConnector.connector {
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false, secureOptions });
  return (options, callback) => {
    const { protocol, hostname } = options;
    const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
    const open = (addresses: readonly LookupAddress[]) => {
      const socket = connect({
        host: hostname,
        port,
        // Node calls it for names only: `findAddresses` has checked an IP address.
        lookup: (_name, _options, done) => done(null, [...addresses]),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: attemptMs,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: keepAliveMs,
      });
      const timer = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError()), timeoutMs);
      const onError = (error: Error) => {
        clearTimeout(timer);
        callback(error, null);
      };
      socket.once('error', onError).once('connect', () => {
        clearTimeout(timer);
        socket.off('error', onError);
        if (protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    };
    // Outside of the promise, so that it does not catch the callback's errors.
    const failed = (error: Error) => process.nextTick(callback, error, null);
    findAddresses(hostname, port).then(open, failed);
  };
}
