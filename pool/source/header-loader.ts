import { ServiceError } from '../../contract/errors.ts';
import { fetchSource, type SourceHeaders } from './fetch.ts';
import type { SourceLoader } from './source-loader.ts';

/**
 * Sends request headers to an HTTP origin, over https only, unless the host is a private source.
 * @param credentials the headers by lower-case name
 */
export function headerLoader(identity: string, credentials: SourceHeaders): SourceLoader {
  return {
    identity,
    fetch: async (url, options) => {
      if (url.protocol !== 'https:' && !options.guard.isPrivateSource(url)) {
        const text = `The headers of ${url.host} are sent over https only; use an https URL.`;
        throw new ServiceError('source_blocked', text);
      }
      return fetchSource(url, { ...options, credentials });
    },
  };
}
