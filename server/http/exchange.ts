import type { EngineHost } from './engine.ts';
import type { HttpRequest, HttpResponse } from './request.ts';

/** One request and its answer: the part of `HttpRequest` that is the same for every engine. */
export abstract class Exchange implements HttpRequest {
  readonly id: string;
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  protected readonly host: EngineHost;
  readonly #startedAt = performance.now();
  #controller: AbortController | null = null;
  #answered = false;
  #over = false;

  constructor(host: EngineHost) {
    this.host = host;
    this.id = host.begin();
  }

  abstract header(name: string): string;
  abstract readBody(maxBytes: number): Promise<Uint8Array | null>;

  /** Writes the answer; called once, and never after the client has left. */
  protected abstract write(response: HttpResponse): void;

  /** Whether it has been answered, though the client may not have taken all of it. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Whether nothing is left to do: the answer is out, or the client has left. */
  get over(): boolean {
    return this.#over;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over) this.#controller.abort();
    return this.#controller.signal;
  }

  respond(response: HttpResponse): void {
    if (this.#over || this.#answered) return;
    this.#answered = true;
    this.write(response);
  }

  /** The answer is out. */
  protected finish(status: number): void {
    if (!this.#over) this.#end(status);
  }

  /** The client has left. */
  leave(): void {
    if (this.#over) return;
    this.#end(null);
    this.#controller?.abort();
  }

  #end(status: number | null): void {
    this.#over = true;
    this.host.over(this, status, performance.now() - this.#startedAt);
  }
}
