import type { Size } from '../../../pool/geometry.ts';
import type { UrlSecret } from '../../../store/url-secret.ts';
import type { Headers } from '../../http/request.ts';
import type { Site } from '../site.ts';

/** An image, as specified by another service's URL. */
export interface ReadUrl {
  readonly source: URL;
  /**
   * This service's parameters by canonical name, and the URL's expiry as `exp`, in Unix seconds.
   */
  readonly parameters: ReadonlyMap<string, string>;
  /** Names of options that the other service ignores too. */
  readonly ignored: readonly string[];
  /** Whether client hints set the size. Most services ignore them. */
  readonly usesHints?: boolean;
  /**
   * Returns the meaning for a source size, if it depends on the size. In that case `parameters`
   * contains only `exp` and `v`.
   */
  readonly bySize?: (size: Size, client: UrlClient) => UrlMeaning;
  /** Redirects to this path (303) instead of returning an image. */
  readonly location?: string;
}

/** The request facts that a document depends on. */
export interface UrlClient {
  /** The URL's scheme, host and port, as seen by the client. */
  readonly origin: string;
  readonly accept: string;
}

/** A text about a source. */
export interface UrlDocument {
  readonly contentType: string;
  readonly body: string;
}

/** An image, or a document about the source. */
export interface UrlMeaning {
  readonly parameters?: ReadonlyMap<string, string>;
  readonly document?: UrlDocument;
  /** Additional response headers. */
  readonly headers: Headers;
}

/** The signature in another service's URL. */
export interface UrlSignature {
  readonly text: string;
  /** Returns the valid signatures for a secret, of which some services accept several. */
  readonly expected: (secret: UrlSecret) => readonly string[];
}

/** A documented URL, and the equivalent native query. */
export interface UrlExample {
  /** The path and the query. */
  readonly url: string;
  /** The query that produces the same image here, without `project`. */
  readonly native: string;
  readonly meaning: string;
  /** The output size for a 1600 × 1000 px source. */
  readonly size: string;
}

/** How a delivery host reads another service's URLs. */
export interface UrlGrammar {
  /** The service's name in messages and documents. */
  readonly title: string;
  /** @throws ServiceError source_missing, source_invalid, parameter_invalid naming the option */
  readonly read: (path: string, query: string, site: Site) => ReadUrl;
  /**
   * Reads a URL's signature, or returns null if it is unsigned. Called only after `read` has
   * accepted the URL. Absent for services that do not sign URLs; the others have a row in
   * `urlSecretKinds`.
   */
  readonly readSignature?: (path: string, query: string) => UrlSignature | null;
  readonly examples: readonly UrlExample[];
  /** Differences from the other service, in Markdown sentences. */
  readonly notes: readonly string[];
}
