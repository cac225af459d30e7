import type { Fetched, FetchOptions, NotModified } from './fetch.ts';

/** A way to fetch the sources of a host other than by plain HTTP requests. */
export interface SourceLoader {
  /** Requests share fetched bytes only if their loaders have the same identity. Contains no secret. */
  readonly identity: string;
  /** The URL that the operator has configured, whose host may be private; absent or null for none. */
  readonly trustedUrl?: URL | null;
  /**
   * Fetches the source of a URL, as `fetchSource` does.
   * @throws ServiceError, or the signal's reason
   */
  fetch(url: URL, options: FetchOptions): Promise<Fetched | NotModified>;
}

/**
 * The loader of the source of a canonical URL; null for plain HTTP requests. It applies to the requested URL only: redirects are
 * followed by plain HTTP requests.
 */
export type LoaderOf = (url: URL) => SourceLoader | null;
