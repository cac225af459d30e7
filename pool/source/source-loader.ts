import { ServiceError } from '../../contract/errors.ts';
import {
  type Fetched,
  type FetchOptions,
  fetchSource,
  type NotModified,
  type SourceHeaders,
} from './fetch.ts';

/** A way to fetch a host's sources other than by plain HTTP requests. */
export interface SourceLoader {
  /** Requests share fetched bytes only if their loaders' identities match. Contains no secret. */
  readonly identity: string;
  /**
   * The URL configured by the operator, with a possibly private host; absent or null if not
   * configured.
   */
  readonly trustedUrl?: URL | null;
  /**
   * Fetches a URL's source, like `fetchSource`.
   * @throws ServiceError, or the signal's reason
   */
  fetch(url: URL, options: FetchOptions): Promise<Fetched | NotModified>;
}

/**
 * Returns the loader for a canonical URL's source; null for plain HTTP requests. Applies only to
 * the requested URL: plain HTTP requests follow redirects.
 */
export type FindLoader = (url: URL) => SourceLoader | null;

/**
 * Sends request headers to an HTTP origin, over https only, unless the host is a private source.
 * @param credentials the headers by lower-case name
 */
export function headerLoader(identity: string, credentials: SourceHeaders): SourceLoader {
  return {
    identity,
    fetch: async (url, options) => {
      if (url.protocol !== 'https:' && !options.guard.isPrivateSource(url)) {
        const text = `${url.host}'s request headers are sent only over https; use an https URL.`;
        throw new ServiceError('source_blocked', text);
      }
      return fetchSource(url, { ...options, credentials });
    },
  };
}
