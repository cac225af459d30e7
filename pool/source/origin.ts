import type { Fetched, FetchOptions, NotModified } from './fetch.ts';

/** How the sources of a host are fetched, if not by plain HTTP requests. */
export interface Origin {
  /** Bytes are shared only between requests with the same one. Contains no secret. */
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
 * The origin of a canonical URL; null for plain HTTP requests. It is asked about the requested URL only:
 * targets of redirects are plain.
 */
export type OriginOf = (url: URL) => Origin | null;
