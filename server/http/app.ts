import uws, {
  type TemplatedApp,
  type HttpRequest as UwsRequest,
  type HttpResponse as UwsResponse,
  type us_listen_socket,
} from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { ServiceError } from '../../contract/errors.ts';
import type { Handler, HttpRequest, HttpResponse } from './request.ts';

/** Status lines by status code. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** A larger body is written in chunks as the client reads it; a smaller one is copied at once. */
const chunkedAboveBytes = 64 * 1024;

const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/**
 * Why this process cannot serve, or null. Where no native binary of uWebSockets.js loads, the package
 * falls back to an incomplete implementation in JavaScript, which fails on every request.
 */
export const engineFailure: string | null =
  typeof uws.SSLApp === 'function'
    ? null
    : `uWebSockets.js has no native binary for Node ${process.versions.node} on ${process.platform}-${process.arch} with this C library; use Node 20 on Linux with glibc, macOS or Windows`;

export interface Route {
  readonly method: 'get' | 'head' | 'post' | 'patch' | 'del' | 'any';
  /** The server library's pattern: `*` at the end matches any rest. */
  readonly path: string;
  readonly handler: Handler;
}

export interface AppEnvironment {
  /** Called at the end of each request; `status` is null when the client left before the response. */
  readonly onEnd: ((request: HttpRequest, status: number | null, ms: number) => void) | null;
  /** Called with an error of a handler that is not the client's fault. */
  readonly onError: (request: HttpRequest, error: unknown) => void;
  /** The response to a failure. */
  readonly errorResponse: (failure: ServiceError) => HttpResponse;
}

/**
 * The HTTP server. Only this file uses uWebSockets.js, and it keeps that library's rules: the abort
 * handler is attached before anything else, the request is not read after the handler's first await,
 * writes are corked, and nothing is written after an abort.
 */
export class App {
  readonly #app: TemplatedApp = uws.App();
  readonly #environment: AppEnvironment;
  readonly #idPrefix: string;
  #listenSocket: us_listen_socket | null = null;
  #requests = 0;
  #open = 0;
  #closing = false;

  /** @param idPrefix makes request ids unique over processes and restarts */
  constructor(routes: readonly Route[], environment: AppEnvironment, idPrefix: string) {
    this.#environment = environment;
    this.#idPrefix = idPrefix;
    for (const { method, path, handler } of routes) {
      this.#app[method](path, (res, req) => this.#handle(res, req, handler));
    }
  }

  /** Requests in progress. */
  get open(): number {
    return this.#open;
  }

  /** Requests since the start. */
  get count(): number {
    return this.#requests;
  }

  /** Shares the port with the other processes that listen on it. False when it cannot listen. */
  listen(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#app.listen(host, port, (socket) => {
        this.#listenSocket = socket || null;
        resolve(this.#listenSocket !== null);
      });
    });
  }

  /** Stops listening; every response from now on closes its connection. */
  stopListening(): void {
    this.#closing = true;
    const socket = this.#listenSocket;
    this.#listenSocket = null;
    // After the event loop has accepted the connections of the backlog, which closing would reset.
    if (socket !== null) setImmediate(() => uws.us_listen_socket_close(socket));
  }

  #handle(res: UwsResponse, req: UwsRequest, handler: Handler): void {
    this.#requests += 1;
    this.#open += 1;
    const id = this.#idPrefix + this.#requests.toString(36);
    const request = new UwsHttpRequest(res, req, id, {
      closing: () => this.#closing,
      onEnd: (status, ms) => {
        this.#open -= 1;
        this.#environment.onEnd?.(request, status, ms);
      },
    });
    try {
      const pending = handler(request);
      if (pending !== undefined) pending.catch((error) => this.#fail(request, error));
    } catch (error) {
      this.#fail(request, error);
    }
    request.seal();
  }

  #fail(request: UwsHttpRequest, error: unknown): void {
    if (request.ended) return;
    const failure = ServiceError.of(error);
    if (failure.code === 'internal_error') this.#environment.onError(request, error);
    request.respond(this.#environment.errorResponse(failure));
  }
}

interface Server {
  /** Whether responses close their connections. */
  closing(): boolean;
  onEnd(status: number | null, ms: number): void;
}

class UwsHttpRequest implements HttpRequest {
  readonly id: string;
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly query: string;
  readonly #res: UwsResponse;
  #req: UwsRequest | null;
  readonly #server: Server;
  readonly #startedAt = performance.now();
  #controller: AbortController | null = null;
  #responded = false;
  #ended = false;

  constructor(res: UwsResponse, req: UwsRequest, id: string, server: Server) {
    this.#res = res;
    this.#req = req;
    this.#server = server;
    res.onAborted(() => this.#abort());
    this.id = id;
    const method = req.getCaseSensitiveMethod();
    this.method = methods.has(method) ? (method as HttpRequest['method']) : 'OTHER';
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
  }

  get ended(): boolean {
    return this.#ended;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended) this.#controller.abort();
    return this.#controller.signal;
  }

  header(name: string): string {
    if (this.#req === null) throw new Error(`the header ${name} was read after an await`);
    return this.#req.getHeader(name);
  }

  readBody(maxBytes: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
      this.#res.onData((chunk, isLast) => {
        // Called until the client has sent the whole body, even when the response was already sent.
        bytes += chunk.byteLength;
        if (this.#ended || bytes > maxBytes) {
          chunks = [];
          return resolve(null);
        }
        // Copied: the chunk's memory is valid only during this call.
        chunks.push(Buffer.from(chunk.slice(0)));
        if (isLast) resolve(Buffer.concat(chunks));
      });
    });
  }

  /** The request must not be read from now on. */
  seal(): void {
    this.#req = null;
  }

  respond({ status, headers, body }: HttpResponse): void {
    if (this.#ended || this.#responded) return;
    this.#responded = true;
    const res = this.#res;
    res.cork(() => {
      res.writeStatus(statusLines.get(status) ?? String(status));
      for (const [name, value] of headers) res.writeHeader(name, value);
      res.writeHeader('x-request-id', this.id);
      this.#send(status, body);
    });
  }

  #send(status: number, body: Uint8Array | string | null): void {
    const res = this.#res;
    // An unread request body is no reason to close: the library discards the rest of it, while a client
    // whose connection is closed before it has sent its whole body may not receive the response.
    const end = this.#server.closing();
    if (body === null || this.method === 'HEAD') {
      // RFC 9110, 8.6: a HEAD's length is the body's; a 304 needs none. Any argument to
      // endWithoutBody makes uWebSockets.js 20.30 write a wrong length, or never finish.
      if (body !== null) res.writeHeader('content-length', String(Buffer.byteLength(body)));
      if (end) res.writeHeader('connection', 'close');
      res.endWithoutBody();
    } else if (typeof body === 'string' || body.byteLength <= chunkedAboveBytes || end) {
      res.end(body, end);
    } else {
      return this.#sendInChunks(status, body);
    }
    this.#end(status);
  }

  /** Writes as the client reads, so that a slow client costs a reference to the body and no copy. */
  #sendInChunks(status: number, body: Uint8Array): void {
    const total = body.byteLength;
    const [, done] = this.#res.tryEnd(body, total);
    if (done) return this.#end(status);
    this.#res.onWritable((offset) => {
      const [ok, finished] = this.#res.tryEnd(body.subarray(offset), total);
      if (finished) this.#end(status);
      return ok;
    });
  }

  #abort(): void {
    if (this.#ended) return;
    this.#end(null);
    this.#controller?.abort();
  }

  #end(status: number | null): void {
    this.#ended = true;
    this.#server.onEnd(status, performance.now() - this.#startedAt);
  }
}
