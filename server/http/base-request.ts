import type { HttpRequest, HttpResponse } from './request.ts';
import type { HttpApp } from './server.ts';

/**
 * Whether a request must be the last one of its connection: a GET or HEAD with a body, which means
 * nothing there (RFC 9110, 9.3.1 and 9.3.2). A proxy that forwards the length of a body and not the body
 * would otherwise have the next request, perhaps another client's, read as that body.
 * @param length the value of Content-Length, or ''
 * @param coding the value of Transfer-Encoding, or ''
 */
export function hasMeaninglessBody(method: string, length: string, coding: string): boolean {
  return (method === 'GET' || method === 'HEAD') && (coding !== '' || Number(length) > 0);
}

/** One request and its response: the part of `HttpRequest` that both HTTP servers share. */
export abstract class BaseRequest implements HttpRequest {
  readonly id: string;
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  protected readonly host: HttpApp;
  route: HttpRequest['route'] = 'other';
  tier: HttpRequest['tier'] = 'none';
  trace: HttpRequest['trace'] = null;
  readonly #startedAt = performance.now();
  #controller: AbortController | null = null;
  #responded = false;
  #ended = false;

  constructor(host: HttpApp) {
    this.host = host;
    this.id = host.begin();
  }

  abstract readonly accept: string;
  abstract readonly peerAddress: string;
  abstract header(name: string): string;
  abstract headerList(name: string): string;
  abstract isWellFormed(): boolean;
  abstract readBody(maxBytes: number): Promise<Uint8Array | null>;

  /** Writes the response; called at most once, and never after the client has left. */
  protected abstract write(response: HttpResponse): void;

  /** Whether the whole response was sent or the client has left. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether a response was sent, or handed over to be sent. */
  protected get responded(): boolean {
    return this.#responded;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended) this.#controller.abort();
    return this.#controller.signal;
  }

  respond(response: HttpResponse): void {
    if (this.#ended || this.#responded) return;
    this.#responded = true;
    this.write(response);
  }

  /** To be called when the whole response was sent. */
  protected finish(status: number): void {
    if (!this.#ended) this.#end(status);
  }

  /** To be called when the client has left. */
  leave(): void {
    if (this.#ended) return;
    this.#end(null);
    this.#controller?.abort();
  }

  #end(status: number | null): void {
    this.#ended = true;
    this.host.onEnd(this, status, performance.now() - this.#startedAt);
  }
}
