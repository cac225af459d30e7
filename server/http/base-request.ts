import type { HttpRequest, HttpResponse } from './request.ts';
import { checkHeaders } from './responses.ts';
import type { HttpApp } from './server.ts';

/** One request and its response: the part of `HttpRequest` that both HTTP servers share. */
export abstract class BaseRequest implements HttpRequest {
  readonly id: string;
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  protected readonly app: HttpApp;
  route: HttpRequest['route'] = 'other';
  tier: HttpRequest['tier'] = 'none';
  trace: HttpRequest['trace'] = null;
  shownUrl: HttpRequest['shownUrl'] = '';
  errorHeaders: HttpRequest['errorHeaders'] = null;
  readonly #startedAt = performance.now();
  #controller: AbortController | null = null;
  /** Whether a response has started. */
  protected responded = false;
  /** Whether the response is complete, or the client has disconnected. */
  ended = false;

  constructor(app: HttpApp) {
    this.app = app;
    this.id = app.begin();
  }

  abstract readonly accept: string;
  abstract readonly host: string;
  abstract readonly peerAddress: string;
  abstract header(name: string): string;
  abstract headerList(name: string): string;
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

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.ended) this.#controller.abort();
    return this.#controller.signal;
  }

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

  respond(response: HttpResponse): void {
    if (this.ended || this.responded) return;
    // Check before marking it as sent, so that an error still gets a response.
    checkHeaders(response.headers);
    this.responded = true;
    this.write(response);
  }

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
