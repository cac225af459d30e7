import { ServiceError } from '../../contract/errors.ts';
import { readAuthority } from '../../contract/hosts.ts';
import {
  hostNotAllowed,
  isAddressOrLocalhost,
  isLoopbackHost,
  parseHost,
} from '../../contract/request-host.ts';
import type { HttpRequest } from './request.ts';
import type { Headers } from './responses.ts';

/** Maximum length of an Origin header to parse, in characters. */
const maxOriginLength = 300;

/**
 * Returns whether an Origin header (RFC 6454, 7) matches the Host header's host, or both hosts are
 * loopback.
 */
export function isSameHost(origin: string, host: string): boolean {
  const originHost = origin.length > maxOriginLength ? '' : parseHost(readAuthority(origin));
  return (
    originHost !== '' &&
    (originHost === host || (isLoopbackHost(originHost) && isLoopbackHost(host)))
  );
}

const policy = 'cross-origin-resource-policy';

/** Removes permission for pages of other sites to read or embed a response. */
const withoutCrossSiteAccess = (headers: Headers): Headers =>
  headers
    .filter(([name]) => !name.startsWith('access-control-') && name !== 'timing-allow-origin')
    .map(([name, value]) =>
      name === policy && value === 'cross-origin' ? [name, 'same-site'] : [name, value],
    );

/**
 * Accepts requests from pages of this host, and requests from outside any page, such as from
 * programs and a browser's address bar. Responses never let other sites read or embed them.
 * @param baseUrl its host is allowed in requests
 * @returns a function that throws ServiceError host_not_allowed or origin_not_allowed
 */
export function sameSiteOnly(baseUrl: string): (request: HttpRequest) => void {
  const own = parseHost(new URL(baseUrl).host);
  return (request) => {
    const respond = request.respond.bind(request);
    request.respond = (response) =>
      respond({ ...response, headers: withoutCrossSiteAccess(response.headers) });
    const host = parseHost(request.header('host'));
    if (host !== own && !isAddressOrLocalhost(host)) throw hostNotAllowed(host);
    const origin = request.header('origin');
    const foreign = origin !== '' && !isSameHost(origin, host);
    if (foreign || request.header('sec-fetch-site') === 'cross-site') {
      const message =
        "This service does not serve images to other sites' pages (SERVICE_CROSS_SITE is off).";
      throw new ServiceError('origin_not_allowed', message);
    }
  };
}
