import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceError } from '../../contract/errors.ts';
import type { HttpResponse } from './request.ts';
import type { HttpApp } from './server.ts';

/** Time for a client that is still sending to receive the response before its connection is closed. */
const lingerMs = 1_000;

/** A request without a complete response. */
export interface PendingRequest {
  /** Part of its body has not arrived. */
  readonly incomplete: boolean;
  respond(response: HttpResponse): void;
  /** Call it when the client has disconnected. */
  disconnected(): void;
}

/** A connection of Node's HTTP server and its requests in progress. */
export class NodeConnection {
  readonly socket: Socket;
  readonly open = new Set<PendingRequest>();
  readonly #app: HttpApp;
  readonly #stalledTimeout: number;
  /** No further request is read. */
  refused = false;
  /** Written before the connection is closed. */
  #finalResponse: string | null = null;

  /** @param stalledTimeout ms until a client that does not read a response is disconnected */
  constructor(socket: Socket, app: HttpApp, stalledTimeout: number) {
    this.socket = socket;
    this.#app = app;
    this.#stalledTimeout = stalledTimeout;
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const request of this.open) request.disconnected();
      this.open.clear();
    });
  }

  /** Call it when a response was written. */
  onWrite(): void {
    if (this.socket.writableLength > 0) this.socket.setTimeout(this.#stalledTimeout);
  }

  onEnd(request: PendingRequest): void {
    this.open.delete(request);
    if (this.open.size > 0) this.socket.setTimeout(0);
    else if (this.refused) this.#close();
  }

  /**
   * Responds to bytes that cannot be parsed, and closes the connection. Bytes in a body belong to a request
   * in progress; other bytes follow those requests, and so does the response.
   */
  refuse(error: ServiceError): void {
    if (this.refused) return;
    this.refused = true;
    const response = this.#app.errorResponse(error);
    const unfinished = [...this.open].find((request) => request.incomplete);
    if (unfinished === undefined) this.#finalResponse = asText(response);
    else unfinished.respond(response);
    if (this.open.size === 0) this.#close();
  }

  #close(): void {
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
