import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceError } from '../../contract/errors.ts';
import type { HttpResponse } from './request.ts';
import type { HttpApp } from './server.ts';

/** A client that is still sending when its connection is closed may not receive the response. */
const lingerMs = 1_000;

/** A request without a complete response. */
export interface Waiting {
  /** Whether its body has not arrived completely. */
  readonly incomplete: boolean;
  respond(response: HttpResponse): void;
  leave(): void;
}

/** A connection of Node's HTTP server, with its requests in progress. */
export class NodeConnection {
  readonly socket: Socket;
  readonly open = new Set<Waiting>();
  readonly #host: HttpApp;
  readonly #stalledTimeout: number;
  #refused = false;
  /** Written before the connection is closed. */
  #finalResponse: string | null = null;

  /** @param stalledTimeout ms after which a client that reads nothing of a response is disconnected */
  constructor(socket: Socket, host: HttpApp, stalledTimeout: number) {
    this.socket = socket;
    this.#host = host;
    this.#stalledTimeout = stalledTimeout;
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const request of this.open) request.leave();
      this.open.clear();
    });
  }

  /** Whether no further request is read from it. */
  get refused(): boolean {
    return this.#refused;
  }

  /** Reads no further request. */
  refuseNext(): void {
    this.#refused = true;
  }

  /** To be called when a response was written. */
  onWrite(): void {
    if (this.socket.writableLength > 0) this.socket.setTimeout(this.#stalledTimeout);
  }

  onEnd(request: Waiting): void {
    this.open.delete(request);
    if (this.open.size > 0) this.socket.setTimeout(0);
    else if (this.#refused) this.#close();
  }

  /**
   * Responds to bytes that cannot be parsed, and closes the connection. Bytes inside a body belong to a
   * request in progress; any others follow those requests, so the response waits for theirs.
   */
  refuse(failure: ServiceError): void {
    if (this.#refused) return;
    this.#refused = true;
    const response = this.#host.errorResponse(failure);
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
