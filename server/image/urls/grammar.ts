import type { Size } from '../../../pool/geometry.ts';
import type { UrlSecret } from '../../../store/url-secret.ts';
import type { Headers } from '../../http/request.ts';
import type { Site } from '../site.ts';

/** An image as a URL of another service names it. */
export interface ReadUrl {
  readonly source: URL;
  /** This service's parameters, by their canonical names; and as `exp` when the URL expires, in Unix seconds. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The names of options that the other service ignores as well. */
  readonly ignored: readonly string[];
  /** Whether client hints do not count, as at the other service. */
  readonly ignoresHints?: boolean;
  /** Returns the meaning for a source of this size, if it depends on the size; `parameters` are then empty. */
  readonly bySize?: (size: Size, client: UrlClient) => UrlMeaning;
  /** The path that the URL redirects to (303), instead of an image. */
  readonly location?: string;
}

/** The parts of a request that a document depends on. */
export interface UrlClient {
  /** The scheme, host and port of the URL, as the client sees them. */
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

/** The signature that a URL of another service has. */
export interface UrlSignature {
  readonly text: string;
  /** Returns the right texts for a secret: more than one if the service has several forms. */
  readonly expected: (secret: UrlSecret) => readonly string[];
}

/** A URL in the documentation, and the image that it stands for. */
export interface UrlExample {
  /** The path and the query. */
  readonly url: string;
  /** The query of the same image at this service, without `project`. */
  readonly native: string;
  readonly meaning: string;
  /** The size of the image of a source of 1600 × 1000 pixels. */
  readonly size: string;
}

/** How a delivery host reads the URLs of another service. */
export interface UrlGrammar {
  /** The name of the service in messages and documents. */
  readonly title: string;
  /** @throws ServiceError source_missing, source_invalid, parameter_invalid with the name of the option */
  readonly read: (path: string, query: string, site: Site) => ReadUrl;
  /**
   * Reads the signature of a URL, or null if it is unsigned. Called only after `read` has accepted the URL. Absent for a
   * service without signatures; the others have a row in `urlSecretKinds`.
   */
  readonly readSignature?: (path: string, query: string) => UrlSignature | null;
  readonly examples: readonly UrlExample[];
  /** What differs from the other service, in sentences with Markdown. */
  readonly notes: readonly string[];
}
