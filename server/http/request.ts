import type { ServiceError } from '../../contract/errors.ts';
import type { RequestTelemetry } from '../telemetry/tracing.ts';

/** Header names in lower case with their values. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** That of a 304, and of a HEAD, is not sent; its length may be. */
  readonly body: Uint8Array | string | null;
}

/** One request and its `respond` method, independent of the HTTP server. */
export interface HttpRequest extends RequestTelemetry {
  /** Identifies this request in logs and in `x-request-id`. */
  readonly id: string;
  /** As it was sent: methods are case-sensitive. */
  readonly method: string;
  /** The path as it was sent, undecoded. */
  readonly path: string;
  /** The undecoded query without `?`, or ''. */
  readonly query: string;
  /**
   * The peer's address, which may be a proxy's; '' when unknown. Only before the handler's first await.
   */
  readonly peerAddress: string;
  /** The host that the request is for, with its port if it has one; '' for none. Only before the handler's first await. */
  readonly host: string;
  /** Additional headers of an error response; set by the router. */
  errorHeaders: ((error: ServiceError) => Headers) | null;
  /** The value of a header named in lower case, or ''. Only before the handler's first await. */
  header(name: string): string;
  /** The Accept header, or ''; readable at any time before the response. */
  readonly accept: string;
  /** As `header`, for a header that may be sent several times: its values joined by commas. */
  headerList(name: string): string;
  /**
   * Checks the head; a malformed request gets 400 and its connection is closed. Call it before the
   * handler's first await. HTTP servers call it for requests with a body. Handlers call it, except for
   * hits of the response cache: reading every header lowers their rate by 7 % with uWebSockets.js, and
   * the response depends on no such header.
   */
  isWellFormed(): boolean;
  /**
   * The whole body, or null above `maxBytes`. Call it before the handler's first await; rejects when the
   * client disconnects.
   */
  readBody(maxBytes: number): Promise<Uint8Array | null>;
  /** Aborts when the client disconnects before the response was sent. */
  readonly signal: AbortSignal;
  /** Sends the response; does nothing when the client has disconnected or a response was already sent. */
  respond(response: HttpResponse): void;
}

/** Responds to a request, synchronously or later. Its errors become error responses. */
export type Handler = (request: HttpRequest) => void | Promise<void>;
