import { isIP } from 'node:net';
import { ServiceError } from './errors.ts';
import { parseAddress } from './networks.ts';

/**
 * Protects against DNS rebinding: any website's name can resolve to an address on this machine or
 * its network. Requests from that site's pages then carry the name in their Host header, instead of
 * an address or `localhost`.
 */

/** Longest Host header to parse, in characters. */
const maxLength = 300;

/** Returns a Host header's host in lower case, without port and IPv6 brackets; '' if malformed. */
export function parseHost(header: string): string {
  if (header.length > maxLength) return '';
  const [, ipv6, other] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase()) ?? [];
  return ipv6 ?? other ?? '';
}

/** Whether a host is `localhost` or an address other than the unspecified ones. */
export const isAddressOrLocalhost = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && parseAddress(host)?.range() !== 'unspecified');

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && parseAddress(host)?.range() === 'loopback');

/**
 * Returns whether a request to a loopback listener names a Host other than an address or
 * `localhost`. Returns false for other listeners, because only the operator can list their names.
 * @param listensOn host in the listener's setting
 */
export const isForeignToLoopback = (header: string, listensOn: string): boolean =>
  isLoopbackHost(listensOn) && !isAddressOrLocalhost(parseHost(header));

/** Creates the error for a Host header that does not name this service. */
export const hostNotAllowed = (header: string): ServiceError => {
  const shown = parseHost(header).slice(0, 80).toWellFormed();
  return new ServiceError('host_not_allowed', `The host ${shown} is not allowed here.`);
};
