import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceError } from '../../contract/errors.ts';
import type { EngineHost } from './engine.ts';
import type { HttpResponse } from './request.ts';

/** A connection that is closed under a client that still sends costs it the answer: wait a little. */
const lingerMs = 1_000;

/** A request that waits for its answer. */
export interface Waiting {
  /** Whether its body is still to come. */
  readonly incomplete: boolean;
  respond(response: HttpResponse): void;
  leave(): void;
}

/** A connection of Node's HTTP server, with the requests that wait for their answers on it. */
export class NodeConnection {
  readonly socket: Socket;
  readonly open = new Set<Waiting>();
  readonly #host: EngineHost;
  #refused = false;
  /** What remains to be said before the end. */
  #lastWords: string | null = null;

  constructor(socket: Socket, host: EngineHost) {
    this.socket = socket;
    this.#host = host;
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const exchange of this.open) exchange.leave();
      this.open.clear();
    });
  }

  /** Whether no request is read from it any more. */
  get refused(): boolean {
    return this.#refused;
  }

  over(exchange: Waiting): void {
    this.open.delete(exchange);
    if (this.open.size > 0) this.socket.setTimeout(0);
    else if (this.#refused) this.#end();
  }

  /**
   * Answers what cannot be read, and ends the connection. Bytes in the middle of a body belong to a
   * request that waits for its answer; others come after those that wait, and so does what is said
   * of them.
   */
  refuse(failure: ServiceError): void {
    if (this.#refused) return;
    this.#refused = true;
    const response = this.#host.errorResponse(failure);
    const unfinished = [...this.open].find((exchange) => exchange.incomplete);
    if (unfinished === undefined) this.#lastWords = asText(response);
    else unfinished.respond(response);
    if (this.open.size === 0) this.#end();
  }

  #end(): void {
    const { socket } = this;
    if (!socket.writable) return;
    if (this.#lastWords === null) socket.end();
    else socket.end(this.#lastWords);
    socket.resume();
    const impatience = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(impatience));
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
