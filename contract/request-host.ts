import { isIP } from 'node:net';
import { ServiceError } from './errors.ts';
import { parseAddress } from './networks.ts';

/**
 * Protection against DNS rebinding: the name of any website can resolve to an address of this machine or
 * its network. Requests of that site's pages then have the name in their Host header, instead of an
 * address or `localhost`.
 */

/** Longest Host header that is parsed, in characters. */
const maxLength = 300;

/** The host of a Host header: lower case, without port and IPv6 brackets; '' for a malformed one. */
export function hostOf(header: string): string {
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
 * Whether a request to a loopback listener has a Host that is neither an address nor `localhost`. False
 * for other listeners: they may have names that only the operator can list.
 * @param listensOn host in the listener's setting
 */
export const isForeignToLoopback = (header: string, listensOn: string): boolean =>
  isLoopbackHost(listensOn) && !isAddressOrLocalhost(hostOf(header));

/** The error for a request whose Host header is not a host of this service. */
export const hostNotAllowed = (header: string): ServiceError => {
  const shown = hostOf(header).slice(0, 80).toWellFormed();
  return new ServiceError('host_not_allowed', `The host ${shown} is not allowed here.`);
};
