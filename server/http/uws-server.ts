import { STATUS_CODES } from 'node:http';
import type {
  TemplatedApp,
  HttpRequest as UwsRequest,
  HttpResponse as UwsResponse,
  us_listen_socket,
} from 'uws-pack';
import { ServiceError } from '../../contract/errors.ts';
import type { HttpServer } from './app.ts';
import type { ClientConnections } from './connection-limit.ts';
import { type HttpApp, HttpRequest } from './request.ts';
import { getEncoded, type HttpResponse } from './responses.ts';
import type { UwsLibrary } from './uws-library.ts';
import {
  IdleConnections,
  NetworkLimits,
  type WaitingConnection,
  WaitingConnections,
} from './waiting-connections.ts';

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** Larger bodies go out in chunks as the client reads them; smaller bodies are copied at once. */
const chunkedAboveBytes = 64 * 1024;

/**
 * uWebSockets.js, which only this file uses. The library requires that the handler attaches the
 * abort handler before it returns, does not read the request after its first await, corks writes,
 * and does not write after an abort.
 */
export class UwsServer implements HttpServer {
  readonly #uws: UwsLibrary;
  readonly #templatedApp: TemplatedApp;
  readonly networkLimits: NetworkLimits;
  /**
   * Connections before their first request, and requests with clients that have not read the whole
   * response.
   */
  readonly waiting = new WaitingConnections();
  readonly #idle = new IdleConnections(this.waiting);
  readonly connections: ClientConnections;
  #listenSocket: us_listen_socket | null = null;

  constructor(app: HttpApp, uws: UwsLibrary, connections: ClientConnections) {
    this.connections = connections;
    const networkLimits = new NetworkLimits(connections);
    this.networkLimits = networkLimits;
    this.#uws = uws;
    this.#templatedApp = uws.App();
    this.#templatedApp.filter((res, change) => this.#count(res, change));
    this.#templatedApp.any('/*', (res, req) => {
      const request = new UwsHttpRequest(res, req, app, this);
      if (networkLimits.isAboveHalf || !this.#idle.isEmpty) this.#requested(request.peerAddress);
      if (!hasBody(req) || request.checkBody()) app.handle(request);
      request.seal();
    });
  }

  /** Called for an accepted connection (1) and for a closed connection (-1). */
  #count(res: UwsResponse, change: number): void {
    this.connections.open += change;
    if (change < 0 || !this.networkLimits.isAboveHalf) return;
    const address = readAddress(res);
    const networks = this.connections.countedNetworks(address);
    const [widest] = networks;
    if (this.#hasRoom(widest)) {
      if (widest !== undefined) this.networkLimits.add(widest);
      const onClose = () => widest !== undefined && this.networkLimits.delete(widest);
      return this.#idle.add(res, address, networks, onClose);
    }
    this.connections.refused += 1;
    res.close();
  }

  /** Returns whether a new connection can stay, closing waiting connections if necessary. */
  #hasRoom(network: string | undefined): boolean {
    const { connections } = this;
    const { limit } = connections;
    if (connections.open > limit) connections.closedWaiting += this.waiting.closeSome(limit);
    if (connections.open > limit) return false;
    if (network === undefined || this.networkLimits.admits(network)) return true;
    const closed = this.waiting.closeSome(limit, network);
    connections.closedWaiting += closed;
    return closed > 0;
  }

  /** Notes that a client has sent a request: the last on its connection, if it is counted. */
  #requested(address: string): void {
    this.#idle.requested(address);
    const [widest] = this.connections.countedNetworks(address);
    if (widest !== undefined) this.networkLimits.delete(widest);
  }

  listen(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#templatedApp.listen(host, port, (socket) => {
        this.#listenSocket = socket || null;
        resolve(this.#listenSocket !== null);
      });
    });
  }

  stopListening(): void {
    const socket = this.#listenSocket;
    this.#listenSocket = null;
    if (socket !== null) afterIdleTick(() => this.#uws.us_listen_socket_close(socket));
  }
}

/** An event loop turn without events takes about 0.02 ms. */
const shortTurnMs = 0.1;
const shortTurnWithinMs = 500;

/**
 * Calls back right after the event loop has accepted connections. Closing a listener resets
 * connections that arrived since, and an idle turn is short enough to minimise them.
 */
function afterIdleTick(callback: () => void): void {
  const deadline = performance.now() + shortTurnWithinMs;
  const turn = (before: number): void => {
    const now = performance.now();
    if (now - before < shortTurnMs || now > deadline) return callback();
    setImmediate(turn, now);
  };
  setImmediate(turn, -Infinity);
}

const readAddress = (res: UwsResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');

/** Returns whether a request contains a body header; `syntaxError` finds an empty one. */
const hasBody = (req: UwsRequest): boolean =>
  req.getHeader('transfer-encoding') !== '' || req.getHeader('content-length') !== '';

/**
 * Updated while the library lists a request's headers: a closure per request would take half of the
 * time.
 */
const counted = { hosts: 0, lengths: 0, codings: 0, emptyLengths: 0 };

function countHeader(name: string, value: string): void {
  // Compare the length first, which differs for most names: the library makes a new string per
  // name.
  if (name.length === 4 && name === 'host') counted.hosts += 1;
  else if (name.length === 14 && name === 'content-length') {
    counted.lengths += 1;
    if (value === '') counted.emptyLengths += 1;
  } else if (name.length === 17 && name === 'transfer-encoding') counted.codings += 1;
}

/**
 * Returns a syntax error that uWebSockets.js accepts although RFC 9112 (3.2 and 6.3) does not, or
 * null. A proxy that parses the request differently would read part of it as another request.
 */
function syntaxError(req: UwsRequest): string | null {
  const coding = req.getHeader('transfer-encoding');
  counted.hosts = counted.lengths = counted.codings = counted.emptyLengths = 0;
  req.forEach(countHeader);
  if (counted.hosts !== 1) return 'A request must have one Host header.';
  if (counted.lengths + counted.codings > 1) {
    return 'A request must not have more than one Content-Length or Transfer-Encoding header.';
  }
  if (counted.emptyLengths > 0) return 'Content-Length must be a number.';
  return coding === '' || coding.toLowerCase() === 'chunked'
    ? null
    : 'Only the chunked transfer coding is supported.';
}

class UwsHttpRequest extends HttpRequest implements WaitingConnection {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #res: UwsResponse;
  readonly #server: UwsServer;
  #req: UwsRequest | null;
  #accept = '';
  #isLast = false;
  #chunkedBody: ChunkedBody | null = null;
  /** Set while the client reads the response. */
  networks: readonly string[] = [];

  constructor(res: UwsResponse, req: UwsRequest, app: HttpApp, server: UwsServer) {
    super(app);
    this.#server = server;
    this.#res = res;
    this.#req = req;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
  }

  get accept(): string {
    return this.#req?.getHeader('accept') ?? this.#accept;
  }

  get host(): string {
    return this.header('host');
  }

  get peerAddress(): string {
    if (this.#req === null) throw new Error('the address was read after an await');
    return readAddress(this.#res);
  }

  header(name: string): string {
    return this.#requestToRead(name).getHeader(name);
  }

  headerList(name: string): string {
    const values: string[] = [];
    this.#requestToRead(name).forEach((key, value) => {
      if (key === name) values.push(value);
    });
    return values.join();
  }

  /** Checks a request that includes a body. Returns false if it was refused. */
  checkBody(): boolean {
    if (!this.isWellFormed()) return false;
    const isUnexpected = this.hasUnexpectedBody;
    const isChunked = this.header('transfer-encoding') !== '';
    this.#isLast = isUnexpected || isChunked;
    if (isChunked && !isUnexpected) this.#chunkedBody = new ChunkedBody(this.#res);
    return true;
  }

  isWellFormed(): boolean {
    const malformed = syntaxError(this.#requestToRead('host'));
    if (malformed !== null) this.#refuse(new ServiceError('invalid_request', malformed));
    return malformed === null;
  }

  #requestToRead(name: string): UwsRequest {
    if (this.#req === null) throw new Error(`the header ${name} was read after an await`);
    return this.#req;
  }

  protected receiveBody(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void {
    if (this.#chunkedBody !== null) return this.#chunkedBody.read(onChunk, onEnd);
    this.#res.onData((chunk, isLast) => {
      onChunk(new Uint8Array(chunk));
      if (isLast) onEnd();
    });
  }

  /** Responds with an error and closes the connection. */
  #refuse(error: ServiceError): void {
    this.#isLast = true;
    this.respond(this.app.errorResponse(error));
  }

  /** Call it at the end of the handler; after that the request is unreadable. */
  seal(): void {
    // An already sent response needs no abort handler: the call takes about 1 % of a hit.
    if (!this.ended) this.#res.onAborted(() => this.disconnected());
    // Later error responses depend on this value.
    if (!this.responded) this.#accept = this.accept;
    this.#req = null;
  }

  protected write(response: HttpResponse): void {
    if (this.#chunkedBody?.isReceived === false) {
      return this.#chunkedBody.onReceived(() => this.write(response));
    }
    const corked = () => this.#res.cork(() => this.#write(response));
    // Wait: otherwise uWebSockets.js would parse the bytes after this request. It ends a connection
    // that sends more before the response. Counted connections handle one request at a time.
    if (this.#isLast || this.#server.networkLimits.isAboveHalf)
      setImmediate(() => this.ended || corked());
    // Within the handler the response is already corked.
    else if (this.#req !== null) this.#write(response);
    else corked();
  }

  #write({ status, headers, body }: HttpResponse): void {
    const res = this.#res;
    res.writeStatus(statusLines.get(status) ?? String(status));
    const [first] = headers;
    const encoded = getEncoded(headers);
    // Write all headers in one call: separate calls would take most of a cached response's time.
    // The library does not modify the value.
    if (encoded === undefined || first === undefined) {
      let value = this.id;
      for (const [name, text] of headers) value += `\r\n${name}: ${text}`;
      res.writeHeader('x-request-id', value);
    } else {
      res.writeHeader('x-request-id', this.id);
      res.writeHeader(first[0], encoded);
    }
    this.#send(status, body);
  }

  #send(status: number, content: Uint8Array | string | null): void {
    const res = this.#res;
    const isLongText = typeof content === 'string' && content.length > chunkedAboveBytes;
    const body = isLongText ? Buffer.from(content) : content;
    // Keep the connection despite an unread body: the library discards the body, and a client might
    // miss the response if the connection closes before it has sent the body.
    const end = this.app.closing || this.#isLast || this.#server.networkLimits.isAboveHalf;
    if (body === null || this.method === 'HEAD' || status === 304) {
      if (this.#isLast || this.#server.networkLimits.isAboveHalf)
        return this.#sendLast(status, body);
      // RFC 9110, 8.6: HEAD sends the body's length; 304 need not. Any argument to endWithoutBody
      // makes uWebSockets.js write a wrong length, or never finish.
      if (body !== null && status !== 304)
        res.writeHeader('content-length', String(Buffer.byteLength(body)));
      if (end) res.writeHeader('connection', 'close');
      res.endWithoutBody();
    } else if (typeof body === 'string' || body.byteLength <= chunkedAboveBytes) {
      res.end(body, end);
    } else if (this.#isLast || this.app.closing) {
      // This copies the body, because `close` would reset a connection with an unread body.
      res.end(body, true);
    } else {
      return this.#sendInChunks(status, body, end);
    }
    this.finish(status);
  }

  /**
   * Ends a response without a body, and its connection, which `endWithoutBody` keeps open. If the
   * head states the length of an omitted body, the response never finishes, so close its connection
   * after writing it.
   */
  #sendLast(status: number, body: Uint8Array | string | null): void {
    const res = this.#res;
    const length = body === null ? 0 : Buffer.byteLength(body);
    if (length === 0) {
      // Even 204, which should not send a length (RFC 9110, 8.6): the library closes connections
      // only this way.
      res.end('', true);
      return this.finish(status);
    }
    res.writeHeader('connection', 'close');
    const [, isComplete] = res.tryEnd('', length);
    // In v20.57, using the response would throw. The idle timeout closes the connection.
    if (isComplete) this.finish(status);
    else this.#closeAfter(status);
  }

  #closeAfter(status: number): void {
    setImmediate(() => {
      if (this.ended) return;
      this.finish(status);
      this.#res.close();
    });
  }

  /** Ends the connection of a client that does not read its response. */
  close(): void {
    if (!this.ended) this.#res.close();
  }

  drop(): void {
    // Later, because `seal` uses the response.
    setImmediate(() => this.close());
  }

  protected override onEnded(): void {
    this.#server.waiting.delete(this);
  }

  /**
   * Writes as the client reads: a slow client holds a reference to the body instead of a copy. The
   * library does not close connections after such a response: to end one, write a total that the
   * body never reaches, after the head.
   */
  #sendInChunks(status: number, body: Uint8Array, end: boolean): void {
    const res = this.#res;
    const total = body.byteLength;
    // Closed connections have no known address.
    const address = readAddress(res);
    const write = (offset: number): boolean => {
      const [ok, done] = res.tryEnd(body.subarray(offset), end ? total + 1 : total);
      if (done) this.finish(status);
      else if (end && res.getWriteOffset() === total) this.#closeAfter(status);
      return ok;
    };
    if (end) {
      res.writeHeader('connection', 'close');
      res.tryEnd(body.subarray(0, 1), total);
    }
    write(end ? res.getWriteOffset() : 0);
    if (this.ended) return;
    this.networks = this.#server.connections.countedNetworks(address);
    this.#server.waiting.add(this);
    res.onWritable(write);
  }
}

/** Maximum bytes to receive before the response. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Receives a chunked request body before the response, which must close the connection.
 * uWebSockets.js accepts bare line feeds after chunk sizes, and any two bytes after a chunk (unlike
 * RFC 9112, 7.1): it could find another request within a body that a proxy forwarded.
 */
class ChunkedBody {
  #onChunk = (_: Uint8Array) => {};
  #onEnd = () => {};
  #onReceived = () => {};
  /** Whether the response can be sent. */
  isReceived = false;

  constructor(res: UwsResponse) {
    let bytes = 0;
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      this.#onChunk(new Uint8Array(chunk));
      if (isLast) this.#onEnd();
      if (this.isReceived || (!isLast && bytes <= maxBytes)) return;
      this.isReceived = true;
      this.#onReceived();
    });
  }

  /** @see HttpRequest.receiveBody */
  read(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void {
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
  }

  /** Sets the function to call when the response can be sent. */
  onReceived(callback: () => void): void {
    this.#onReceived = callback;
  }
}
