import type {
  TemplatedApp,
  HttpRequest as UwsRequest,
  HttpResponse as UwsResponse,
  us_listen_socket,
} from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { ServiceError } from '../../contract/errors.ts';
import { BaseRequest, hasMeaninglessBody } from './base-request.ts';
import type { HttpResponse } from './request.ts';
import type { HttpApp, HttpServer } from './server.ts';
import type { UwsLibrary } from './uws-library.ts';

/** Status lines by status code. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** A larger body is written in chunks as the client reads it; a smaller one is copied at once. */
const chunkedAboveBytes = 64 * 1024;

/**
 * uWebSockets.js. Only this file uses it, and it keeps that library's rules: the abort handler is
 * attached before the handler returns, the request is not read after the handler's first await, writes
 * are corked, and nothing is written after an abort.
 */
export class UwsServer implements HttpServer {
  readonly #uws: UwsLibrary;
  readonly #app: TemplatedApp;
  #listenSocket: us_listen_socket | null = null;

  constructor(host: HttpApp, uws: UwsLibrary) {
    this.#uws = uws;
    this.#app = uws.App();
    this.#app.any('/*', (res, req) => {
      const request = new UwsHttpRequest(res, req, host);
      if (!hasBody(req) || request.takeBody()) host.handle(request);
      request.seal();
    });
  }

  listen(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#app.listen(host, port, (socket) => {
        this.#listenSocket = socket || null;
        resolve(this.#listenSocket !== null);
      });
    });
  }

  stopListening(): void {
    const socket = this.#listenSocket;
    this.#listenSocket = null;
    // After the event loop has accepted the connections of the backlog, which closing would reset.
    if (socket !== null) setImmediate(() => this.#uws.us_listen_socket_close(socket));
  }
}

/** Whether a request has the header of a body; one with an empty value is found by `faultOf`. */
const hasBody = (req: UwsRequest): boolean =>
  req.getHeader('transfer-encoding') !== '' || req.getHeader('content-length') !== '';

/**
 * Faults that uWebSockets.js 20.30 accepts although RFC 9112 (3.2 and 6.3) does not: a proxy in front
 * that reads such a request in another way would take the rest of it for another request.
 */
function faultOf(req: UwsRequest): string | null {
  const coding = req.getHeader('transfer-encoding');
  const count = { host: 0, 'content-length': 0, 'transfer-encoding': 0 };
  let emptyLength = false;
  req.forEach((name, value) => {
    if (Object.hasOwn(count, name)) count[name as keyof typeof count] += 1;
    if (name === 'content-length' && value === '') emptyLength = true;
  });
  if (count.host !== 1) return 'A request must have one Host header.';
  if (count['content-length'] + count['transfer-encoding'] > 1) {
    return 'A request must not have more than one Content-Length or Transfer-Encoding header.';
  }
  if (emptyLength) return 'Content-Length must be a number.';
  return coding === '' || coding.toLowerCase() === 'chunked'
    ? null
    : 'The only transfer coding that is supported is chunked.';
}

class UwsHttpRequest extends BaseRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #res: UwsResponse;
  #req: UwsRequest | null;
  #accept = '';
  #last = false;

  constructor(res: UwsResponse, req: UwsRequest, host: HttpApp) {
    super(host);
    this.#res = res;
    this.#req = req;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
  }

  get accept(): string {
    return this.#req?.getHeader('accept') ?? this.#accept;
  }

  get peerAddress(): string {
    if (this.#req === null) throw new Error('the address was read after an await');
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  header(name: string): string {
    return this.#readable(name).getHeader(name);
  }

  headerList(name: string): string {
    const values: string[] = [];
    this.#readable(name).forEach((key, value) => {
      if (key === name) values.push(value);
    });
    return values.join();
  }

  /** To be called for a request with a body; false when it was refused. */
  takeBody(): boolean {
    if (!this.isWellFormed()) return false;
    const [length, coding] = [this.header('content-length'), this.header('transfer-encoding')];
    this.#last = hasMeaninglessBody(this.method, length, coding);
    return true;
  }

  isWellFormed(): boolean {
    const fault = faultOf(this.#readable('host'));
    if (fault !== null) this.#refuse(new ServiceError('invalid_request', fault));
    return fault === null;
  }

  #readable(name: string): UwsRequest {
    if (this.#req === null) throw new Error(`the header ${name} was read after an await`);
    return this.#req;
  }

  readBody(maxBytes: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
      this.#res.onData((chunk, isLast) => {
        // Called until the client has sent the whole body, even when the response was already sent.
        bytes += chunk.byteLength;
        if (this.ended || bytes > maxBytes) {
          chunks = [];
          return resolve(null);
        }
        // Copied: the chunk's memory is valid only during this call.
        chunks.push(Buffer.from(chunk.slice(0)));
        if (isLast) resolve(Buffer.concat(chunks));
      });
    });
  }

  /** Responds with an error and closes the connection. */
  #refuse(failure: ServiceError): void {
    this.#last = true;
    this.respond(this.host.errorResponse(failure));
  }

  /** To be called at the end of the handler: the request must not be read from now on. */
  seal(): void {
    // Only now, because a response that was sent at once needs none: a call of the library takes about
    // 1 % of a hit.
    if (!this.ended) this.#res.onAborted(() => this.leave());
    // A failure that is still to come is answered by what the client accepts.
    if (!this.responded) this.#accept = this.accept;
    this.#req = null;
  }

  protected write(response: HttpResponse): void {
    const corked = () => this.#res.cork(() => this.#write(response));
    // Not at once: uWebSockets.js would go on with what it has read after this request, while it ends a
    // connection that sends on before the response.
    if (this.#last) setImmediate(() => this.ended || corked());
    // Within the handler the library has corked the response already.
    else if (this.#req !== null) this.#write(response);
    else corked();
  }

  #write({ status, headers, body }: HttpResponse): void {
    const res = this.#res;
    res.writeStatus(statusLines.get(status) ?? String(status));
    for (const [name, value] of headers) res.writeHeader(name, value);
    res.writeHeader('x-request-id', this.id);
    this.#send(status, body);
  }

  #send(status: number, body: Uint8Array | string | null): void {
    const res = this.#res;
    // An unread request body is no reason to close: the library discards the rest of it, while a client
    // whose connection is closed before it has sent its whole body may not receive the response.
    const end = this.host.closing || this.#last;
    if (this.#last && (body === null || this.method === 'HEAD'))
      return this.#sendLast(status, body);
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
    this.finish(status);
  }

  /**
   * Ends a response without a body and its connection, which `endWithoutBody` does not. What has the
   * length of a HEAD's body is never finished, so its connection is closed once it is written.
   */
  #sendLast(status: number, body: Uint8Array | string | null): void {
    const res = this.#res;
    const length = body === null ? 0 : Buffer.byteLength(body);
    if (length === 0) {
      res.end('', true);
      return this.finish(status);
    }
    res.writeHeader('connection', 'close');
    res.tryEnd('', length);
    setImmediate(() => {
      if (this.ended) return;
      this.finish(status);
      res.close();
    });
  }

  /** Writes as the client reads, so that a slow client costs a reference to the body and no copy. */
  #sendInChunks(status: number, body: Uint8Array): void {
    const total = body.byteLength;
    const [, done] = this.#res.tryEnd(body, total);
    if (done) return this.finish(status);
    this.#res.onWritable((offset) => {
      const [ok, finished] = this.#res.tryEnd(body.subarray(offset), total);
      if (finished) this.finish(status);
      return ok;
    });
  }
}
