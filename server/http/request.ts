import type { ServiceError } from '../../contract/errors.ts';
import type { RequestTelemetry } from '../telemetry/tracing.ts';

/** Lower-case header names with values. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** HEAD and 304 responses omit the body, but can send its length. */
  readonly body: Uint8Array | string | null;
}

/** One request and its `respond` method, independent of the HTTP server. */
export interface HttpRequest extends RequestTelemetry {
  /** Identifies this request in logs and in `x-request-id`. */
  readonly id: string;
  /** As sent: methods are case-sensitive. */
  readonly method: string;
  /** The undecoded path. */
  readonly path: string;
  /** The undecoded query without `?`, or ''. */
  readonly query: string;
  /**
   * The peer's address, possibly a proxy's, or '' if unknown. Read it before the handler's first
   * await.
   */
  readonly peerAddress: string;
  /** The requested host, including any port, or ''. Read it before the handler's first await. */
  readonly host: string;
  /** Additional headers of an error response; set by the router. */
  errorHeaders: ((error: ServiceError) => Headers) | null;
  /**
   * Returns the value of a header by its lower-case name, or ''. Call it before the handler's first
   * await.
   */
  header(name: string): string;
  /** The Accept header, or ''; readable at any time before the response. */
  readonly accept: string;
  /** Like `header`, for repeatable headers: joins the values by commas. */
  headerList(name: string): string;
  /**
   * Checks the head. A malformed request gets a 400 response, which closes its connection. Call it
   * before the handler's first await. HTTP servers call it for requests with a body. Handlers call
   * it, except for hits of the response cache: reading every header lowers their rate by 7 % with
   * uWebSockets.js, and the response does not depend on such headers.
   */
  isWellFormed(): boolean;
  /**
   * Returns the whole body, or null above `maxBytes`. Call it before the handler's first await.
   * Rejects if the client disconnects.
   */
  readBody(maxBytes: number): Promise<Uint8Array | null>;
  /** Aborts if the client disconnects before the end of the response. */
  readonly signal: AbortSignal;
  /** Sends the response, unless the client has disconnected or already has a response. */
  respond(response: HttpResponse): void;
  /**
   * Ends the connection instead of responding. A proxy then sends the request to another machine,
   * which it does not do after a 503.
   */
  drop(): void;
}

/** Responds to a request, synchronously or later. Its errors become error responses. */
export type Handler = (request: HttpRequest) => void | Promise<void>;
