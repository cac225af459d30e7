import { isIP } from 'node:net';
import { ServiceError } from './errors.ts';
import { parseAddress } from './networks.ts';

/**
 * What the Host and Origin of a request say about the page that a browser sends it for. A page of
 * anyone can have a name of its own lead to an address of this machine or of its network (DNS rebinding):
 * its requests then have that name as their Host, and an address or `localhost` is none.
 */

/** The longest header that is read, in characters. */
const maxLength = 300;

/** The host of a Host header, in lower case, without the port and the brackets of an IPv6 address. */
export function hostOf(header: string): string {
  if (header.length > maxLength) return '';
  const [, six, other] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase()) ?? [];
  return six ?? other ?? '';
}

/** Whether a host is an address, other than those for none, or `localhost`. */
export const isAddressOrLocalhost = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && parseAddress(host)?.range() !== 'unspecified');

/** Whether a host is an address of this machine's own loopback network, or `localhost`. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && parseAddress(host)?.range() === 'loopback');

/**
 * Whether a Host header names what nobody calls a listener at a loopback address: neither an address nor
 * `localhost`. One at another address has names that only its operator knows.
 * @param listensOn the address or the name that the listener was given
 */
export const isForeignToLoopback = (header: string, listensOn: string): boolean =>
  isLoopbackHost(listensOn) && !isAddressOrLocalhost(hostOf(header));

/** The failure of a request for a host that is not this service's, whose page may be anyone's. */
export const hostNotAllowed = (header: string): ServiceError => {
  const shown = hostOf(header).slice(0, 80).toWellFormed();
  return new ServiceError('host_not_allowed', `The host ${shown} is not allowed here.`);
};
