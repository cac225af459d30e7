import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { ServiceError } from '../../contract/errors.ts';
import type { HttpServer } from './app.ts';
import type { ClientConnections } from './connection-limit.ts';
import { type HttpApp, HttpRequest } from './request.ts';
import type { HttpResponse } from './responses.ts';
import { type WaitingConnection, WaitingConnections } from './waiting-connections.ts';

const maxHeaderSize = 16_384;

/** Limits on how long the server waits for a client, in ms. */
export interface NodeTimeouts {
  /** Idle time between two requests. */
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  /** From the first byte of a request to the last byte of its body. */
  readonly requestTimeout: number;
  /** How often the server checks the two limits above. */
  readonly connectionsCheckingInterval: number;
  /** Maximum time during which a client does not read its response. */
  readonly stalledTimeout: number;
}

/** Similar to the timeouts of uWebSockets.js. */
export const defaultTimeouts: NodeTimeouts = {
  keepAliveTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  stalledTimeout: 30_000,
};

export class NodeServer implements HttpServer {
  readonly app: HttpApp;
  readonly #server: Server;
  readonly #bySocket = new WeakMap<Socket, NodeConnection>();
  readonly connections: ClientConnections;
  readonly waiting = new WaitingConnections();

  constructor(app: HttpApp, connections: ClientConnections, timeouts = defaultTimeouts) {
    this.app = app;
    this.connections = connections;
    const { stalledTimeout, ...serverTimeouts } = timeouts;
    const accept = (req: IncomingMessage, res: ServerResponse): void => this.#accept(req, res);
    this.#server = createServer({
      ...serverTimeouts,
      maxHeaderSize,
      noDelay: true,
      insecureHTTPParser: false,
      // `syntaxError` checks the header, so that the response contains the service's error body.
      requireHostHeader: false,
    })
      .on('request', accept)
      // RFC 9110, 10.1.1: a server can ignore expectations other than 100-continue.
      .on('checkExpectation', accept)
      .on('connection', (socket: Socket) => this.#open(socket, stalledTimeout))
      .on('connect', (req, socket) =>
        this.#refuse(socket as Socket, app.refusal('CONNECT', req.url ?? '')),
      )
      .on('clientError', (error, socket) => this.#clientError(error, socket as Socket));
  }

  listen(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#server.on('error', () => resolve(false));
      this.#server.listen({ host, port }, () => resolve(true));
    });
  }

  stopListening(): void {
    // http.Server's close would also close idle connections; a client that reuses one must get a
    // response.
    NetServer.prototype.close.call(this.#server);
  }

  #open(socket: Socket, stalledTimeout: number): void {
    const { connections } = this;
    const { open, limit } = connections;
    if (open >= limit) {
      const closed = this.waiting.closeSome(limit);
      connections.closedWaiting += closed;
      if (closed === 0) {
        connections.refused += 1;
        return void socket.destroy();
      }
    }
    this.#bySocket.set(socket, new NodeConnection(socket, this, stalledTimeout));
  }

  #accept(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#bySocket.get(req.socket);
    // Bytes after a malformed request might not be a request.
    if (connection === undefined || connection.refused) return;
    const request = new NodeHttpRequest(req, res, this.app, connection);
    connection.begin(request);
    const malformed = syntaxError(req);
    if (malformed !== null) {
      return connection.refuse(new ServiceError('invalid_request', malformed));
    }
    if (request.isLast) connection.refused = true;
    this.app.handle(request);
  }

  #refuse(socket: Socket, error: ServiceError): void {
    this.#bySocket.get(socket)?.refuse(error);
  }

  #clientError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
    const error = requestError(code);
    // Null for connection errors.
    if (error === null || !socket.writable) socket.destroy();
    else this.#refuse(socket, error);
  }
}

/** Returns the error of a request that Node's parser refuses, or null for another error's code. */
function requestError(code: string): ServiceError | null {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The request line and the headers have more than ${maxHeaderSize} bytes.`;
    return new ServiceError('headers_too_large', message);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ServiceError('request_timeout', 'The request was not complete in time.');
  }
  return code.startsWith('HPE_')
    ? new ServiceError('invalid_request', 'This is not a well-formed HTTP request.')
    : null;
}

/**
 * Returns a syntax error that the parser accepts although RFC 9112 (2.3 and 3.2) does not, or null.
 */
function syntaxError({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return `HTTP/${httpVersion} is not supported, only HTTP/1.1 and HTTP/1.0.`;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (httpVersion === '1.0' && hosts === 0) return null;
  return hosts === 1 ? null : `An HTTP/${httpVersion} request must have one Host header.`;
}

/**
 * Splits a request target into path and query, and the authority of an absolute URL, which a server
 * must accept (RFC 9112, 3.2.2); null for the origin-form (3.2.1).
 */
export function splitTarget(target: string): {
  path: string;
  query: string;
  authority: string | null;
} {
  const absolute = target.startsWith('/') ? null : /^https?:\/\/([^/?#]*)/i.exec(target);
  const authority = absolute?.[1] ?? null;
  let originForm = target.slice(absolute?.[0].length ?? 0);
  if (originForm === '' || originForm.startsWith('?')) originForm = `/${originForm}`;
  // Node decodes the target as Latin-1; clients that send non-ASCII bytes send UTF-8.
  if (/[\x80-\xff]/.test(originForm))
    originForm = Buffer.from(originForm, 'latin1').toString('utf8');
  const mark = originForm.indexOf('?');
  return mark === -1
    ? { path: originForm, query: '', authority }
    : { path: originForm.slice(0, mark), query: originForm.slice(mark + 1), authority };
}

/** A request to Node's HTTP server, which keeps responses to pipelined requests in order. */
class NodeHttpRequest extends HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Whether the request must be the last on its connection. */
  readonly isLast: boolean;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #connection: NodeConnection;
  readonly #authority: string | null;

  constructor(req: IncomingMessage, res: ServerResponse, app: HttpApp, connection: NodeConnection) {
    super(app);
    this.#req = req;
    this.#res = res;
    this.#connection = connection;
    this.method = req.method ?? '';
    const { path, query, authority } = splitTarget(req.url ?? '');
    this.path = path;
    this.query = query;
    this.#authority = authority;
    this.isLast = this.hasUnexpectedBody;
  }

  drop(): void {
    this.#connection.close();
  }

  /** Whether part of its body has not arrived. */
  get incomplete(): boolean {
    return !this.#req.complete;
  }

  get accept(): string {
    return this.header('accept');
  }

  /** A server must ignore the Host header if the target is absolute (RFC 9112, 3.2.2). */
  get host(): string {
    return this.#authority ?? this.header('host');
  }

  get peerAddress(): string {
    return this.#req.socket.remoteAddress ?? '';
  }

  header(name: string): string {
    return String(this.#req.headers[name] ?? '');
  }

  /** NodeServer refuses malformed requests before they get here. */
  isWellFormed(): boolean {
    return true;
  }

  headerList(name: string): string {
    return this.#req.headersDistinct[name]?.join() ?? '';
  }

  protected receiveBody(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void {
    this.#req.on('data', onChunk).on('end', onEnd);
  }

  protected write({ status, headers, body }: HttpResponse): void {
    const res = this.#res;
    const fields: string[] = [];
    for (const [name, value] of headers) fields.push(name, value);
    fields.push('x-request-id', this.id);
    // RFC 9110, 8.6: HEAD sends the body's length; 204 must not send a length, and 304 need not.
    const length = body === null ? 0 : Buffer.byteLength(body);
    if (status !== 304 && (status !== 204 || length > 0))
      fields.push('content-length', String(length));
    const lastOne = this.isLast || (this.#connection.refused && this.incomplete);
    if (this.app.closing || lastOne) fields.push('connection', 'close');
    // A write can fail after the client has disconnected and before the connection's 'close' event.
    res.on('error', () => {});
    res.once('finish', () => {
      // Destroyed connections emit this event too, but their 'close' event ends the request.
      if (this.#connection.socket.destroyed) return;
      this.finish(status);
      this.#connection.onEnd(this);
    });
    res.writeHead(status, fields);
    if (body === null || this.method === 'HEAD' || status === 304) res.end();
    else res.end(body);
    this.#connection.onWrite();
  }
}

/** Time for a client that is still sending to receive the response before the connection closes. */
const lingerMs = 1_000;

/** A connection of Node's HTTP server and its requests in progress. */
class NodeConnection implements WaitingConnection {
  readonly socket: Socket;
  readonly networks: readonly string[];
  /** Requests with an incomplete response. */
  readonly open = new Set<NodeHttpRequest>();
  readonly #server: NodeServer;
  readonly #stalledTimeout: number;
  #closed = false;
  /** Whether to ignore all later requests. */
  refused = false;
  /** Written before closing the connection. */
  #finalResponse: string | null = null;

  /** @param stalledTimeout ms before disconnecting a client that does not read its response */
  constructor(socket: Socket, server: NodeServer, stalledTimeout: number) {
    this.socket = socket;
    this.networks = server.connections.countedNetworks(socket.remoteAddress ?? '');
    this.#server = server;
    this.#stalledTimeout = stalledTimeout;
    socket.on('error', () => {});
    server.connections.open += 1;
    server.waiting.add(this);
    socket.once('close', () => {
      this.#leaveSets();
      for (const request of this.open) request.disconnected();
      this.open.clear();
    });
  }

  close(): void {
    this.#leaveSets();
    this.socket.destroy();
  }

  #leaveSets(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#server.connections.open -= 1;
    this.#server.waiting.delete(this);
  }

  /** Call it after reading a request. */
  begin(request: NodeHttpRequest): void {
    this.open.add(request);
    this.#server.waiting.delete(this);
  }

  onWrite(): void {
    if (this.socket.writableLength === 0 || this.#closed) return;
    this.socket.setTimeout(this.#stalledTimeout);
    this.#server.waiting.add(this);
  }

  onEnd(request: NodeHttpRequest): void {
    this.open.delete(request);
    this.#server.waiting.delete(this);
    if (this.open.size > 0) return void this.socket.setTimeout(0);
    if (!this.#closed) this.#server.waiting.add(this);
    if (this.refused) this.#end();
  }

  /**
   * Responds to invalid bytes, and closes the connection. Bytes in a body belong to a request in
   * progress; other bytes, and so the response, follow the requests in progress.
   */
  refuse(error: ServiceError): void {
    if (this.refused) return;
    this.refused = true;
    const response = this.#server.app.errorResponse(error);
    const unfinished = [...this.open].find((request) => request.incomplete);
    if (unfinished === undefined) this.#finalResponse = asText(response);
    else unfinished.respond(response);
    if (this.open.size === 0) this.#end();
  }

  #end(): void {
    const { socket } = this;
    if (!socket.writable) return;
    if (this.#finalResponse === null) socket.end();
    else socket.end(this.#finalResponse);
    socket.resume();
    const linger = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(linger));
  }
}

function asText({ status, headers, body }: HttpResponse): string {
  const text = String(body ?? '');
  const fields = [
    ...headers,
    ['date', new Date().toUTCString()],
    ['content-length', String(Buffer.byteLength(text))],
    ['connection', 'close'],
  ].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${text}`;
}
