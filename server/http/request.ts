import type { ServiceError } from '../../contract/errors.ts';
import type { RequestTelemetry } from '../telemetry/tracing.ts';
import { checkHeaders, type Headers, type HttpResponse } from './responses.ts';

/** Returns additional headers of an error's response, which replace others of the same name. */
export type ErrorHeaders = (error: ServiceError, response: HttpResponse) => Headers;

/** The part of the app that HTTP servers use. */
export interface HttpApp {
  /** Whether responses close their connections. */
  readonly closing: boolean;
  /** Counts a new request and returns its id; `onEnd` must follow. */
  begin(): string;
  handle(request: HttpRequest): void;
  /**
   * Called at the end of each request; `status` is null if the client disconnected before the
   * response.
   */
  onEnd(request: HttpRequest, status: number | null, ms: number): void;
  /** Returns the response to a request that does not reach a handler. */
  errorResponse(error: ServiceError): HttpResponse;
  /** Returns the error for a method that a path does not allow. */
  refusal(method: string, path: string): ServiceError;
}

/** One request and its response: the part that both HTTP servers share. */
export abstract class HttpRequest implements RequestTelemetry {
  /** Identifies this request in logs and in `x-request-id`. */
  readonly id: string;
  /** As sent: methods are case-sensitive. */
  abstract readonly method: string;
  /** The undecoded path. */
  abstract readonly path: string;
  /** The undecoded query without `?`, or ''. */
  abstract readonly query: string;
  protected readonly app: HttpApp;
  route: RequestTelemetry['route'] = 'other';
  tier: RequestTelemetry['tier'] = 'none';
  trace: RequestTelemetry['trace'] = null;
  shownUrl = '';
  /** Additional headers of an error response; set by the router and the handler. */
  errorHeaders: ErrorHeaders | null = null;
  readonly #startedAt = performance.now();
  #controller: AbortController | null = null;
  protected responded = false;
  /** Whether the response is complete, or the client has disconnected. */
  ended = false;

  constructor(app: HttpApp) {
    this.app = app;
    this.id = app.begin();
  }

  /** The Accept header, or ''; readable at any time before the response. */
  abstract readonly accept: string;
  /** The requested host, including any port, or ''. Read it before the handler's first await. */
  abstract readonly host: string;
  /**
   * The peer's address, possibly a proxy's, or '' if unknown. Read it before the handler's first
   * await.
   */
  abstract readonly peerAddress: string;
  /**
   * Returns the value of a header by its lower-case name, or ''. Call it before the handler's first
   * await.
   */
  abstract header(name: string): string;
  /** Like `header`, for repeatable headers: joins the values by commas. */
  abstract headerList(name: string): string;
  /**
   * Checks the head. A malformed request gets a 400 response, which closes its connection. Call it
   * before the handler's first await. HTTP servers call it for requests with a body. Handlers call
   * it, except for hits of the response cache: reading every header lowers their rate by 7 % with
   * uWebSockets.js, and the response does not depend on such headers.
   */
  abstract isWellFormed(): boolean;

  /**
   * Whether a GET or HEAD request includes a body, which has no meaning (RFC 9110, 9.3.1 and 9.3.2).
   * Such a request must be the last on its connection: if a proxy forwards the body's length but not
   * the body, the server would read the next request, perhaps another client's, as that body.
   */
  protected get hasUnexpectedBody(): boolean {
    if (this.method !== 'GET' && this.method !== 'HEAD') return false;
    return this.header('transfer-encoding') !== '' || Number(this.header('content-length')) > 0;
  }

  /**
   * Calls `onChunk` with every body chunk, even after the response, and then `onEnd`. A chunk is
   * valid only during the call.
   */
  protected abstract receiveBody(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void;

  /** Writes the response; called at most once, and never after the client has disconnected. */
  protected abstract write(response: HttpResponse): void;

  /** Aborts if the client disconnects before the end of the response. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.ended) this.#controller.abort();
    return this.#controller.signal;
  }

  /**
   * Returns the whole body, or null above `maxBytes`. Call it before the handler's first await.
   * Rejects if the client disconnects.
   */
  readBody(maxBytes: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      let chunks: Uint8Array[] = [];
      let bytes = 0;
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
      const onChunk = (chunk: Uint8Array): void => {
        bytes += chunk.byteLength;
        if (!this.ended && bytes <= maxBytes) return void chunks.push(Buffer.from(chunk));
        chunks = [];
        resolve(null);
      };
      this.receiveBody(onChunk, () => resolve(Buffer.concat(chunks)));
    });
  }

  /** Sends the response, unless the client has disconnected or already has a response. */
  respond(response: HttpResponse): void {
    if (this.ended || this.responded) return;
    // Check before marking it as sent, so that an error still gets a response.
    checkHeaders(response.headers);
    this.responded = true;
    this.write(response);
  }

  /**
   * Ends the connection instead of responding. A proxy then sends the request to another machine,
   * which it does not do after a 503.
   */
  abstract drop(): void;

  /** Call it when the complete response was sent. */
  protected finish(status: number): void {
    if (!this.ended) this.#end(status);
  }

  /** Call it when the client has disconnected. */
  disconnected(): void {
    if (this.ended) return;
    this.#end(null);
    this.#controller?.abort();
  }

  /** Called once, at the end. */
  protected onEnded(): void {}

  #end(status: number | null): void {
    this.ended = true;
    this.onEnded();
    this.app.onEnd(this, status, performance.now() - this.#startedAt);
  }
}

/** Responds to a request, synchronously or later. Its errors become error responses. */
export type Handler = (request: HttpRequest) => void | Promise<void>;
