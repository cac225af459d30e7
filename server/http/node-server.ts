import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { ServiceError } from '../../contract/errors.ts';
import type { Connections } from './connection-limit.ts';
import { NodeConnection } from './node-connection.ts';
import { NodeHttpRequest, splitTarget } from './node-request.ts';
import type { HttpApp, HttpServer } from './server.ts';
import { WaitingConnections } from './waiting-connections.ts';

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

/** An error of Node's HTTP parser. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Node's own HTTP server. */
export class NodeServer implements HttpServer {
  readonly #app: HttpApp;
  readonly #server: Server;
  readonly #bySocket = new WeakMap<Socket, NodeConnection>();
  readonly connections: Connections;
  readonly #waiting = new WaitingConnections();

  constructor(app: HttpApp, connections: Connections, timeouts = defaultTimeouts) {
    this.#app = app;
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
      const closed = this.#waiting.closeSome(limit);
      connections.closedWaiting += closed;
      if (closed === 0) {
        connections.refused += 1;
        return void socket.destroy();
      }
    }
    const sets = { connections, waiting: this.#waiting };
    this.#bySocket.set(socket, new NodeConnection(socket, this.#app, sets, stalledTimeout));
  }

  #accept(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#bySocket.get(req.socket);
    // Bytes after a malformed request might not be a request.
    if (connection === undefined || connection.refused) return;
    const request = new NodeHttpRequest(req, res, this.#app, connection);
    connection.begin(request);
    const malformed = syntaxError(req);
    if (malformed !== null) {
      return connection.refuse(new ServiceError('invalid_request', malformed));
    }
    if (request.isLast) connection.refused = true;
    this.#app.handle(request);
  }

  #refuse(socket: Socket, error: ServiceError): void {
    this.#bySocket.get(socket)?.refuse(error);
  }

  #clientError(error: ParserError, socket: Socket): void {
    const requestError = this.#requestError(error);
    // Null for connection errors.
    if (requestError === null || !socket.writable) socket.destroy();
    else this.#refuse(socket, requestError);
  }

  #requestError(error: ParserError): ServiceError | null {
    const { code = '' } = error;
    if (code === 'HPE_HEADER_OVERFLOW') {
      const message = `The request line and the headers have more than ${maxHeaderSize} bytes.`;
      return new ServiceError('headers_too_large', message);
    }
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      return new ServiceError('request_timeout', 'The request was not complete in time.');
    }
    const unknown = code === 'HPE_INVALID_METHOD' ? readRequestLine(error) : null;
    if (unknown !== null)
      return this.#app.refusal(unknown.method, splitTarget(unknown.target).path);
    return code.startsWith('HPE_')
      ? new ServiceError('invalid_request', 'This is not a well-formed HTTP request.')
      : null;
  }
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
  return hosts === 1 ? null : `A request of HTTP/${httpVersion} must have one Host header.`;
}

/**
 * Returns the request line of a method that the parser does not support, or null for a malformed
 * line.
 */
function readRequestLine(error: ParserError): { method: string; target: string } | null {
  const { rawPacket = Buffer.alloc(0), bytesParsed = 0 } = error;
  const begin = rawPacket.lastIndexOf('\n', bytesParsed) + 1;
  const text = rawPacket.subarray(begin, begin + maxHeaderSize).toString('latin1');
  const [, method, target] = /^([\w!#$%&'*+.^`|~-]+) (\S+) HTTP\/1\.[01]\r\n/.exec(text) ?? [];
  return method === undefined || target === undefined ? null : { method, target };
}
