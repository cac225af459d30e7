import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceError } from '../../contract/errors.ts';
import type { Connections } from './connection-limit.ts';
import type { HttpResponse } from './request.ts';
import type { HttpApp } from './server.ts';
import type { WaitingConnection, WaitingConnections } from './waiting-connections.ts';

/** Time for a client that is still sending to receive the response before the connection closes. */
const lingerMs = 1_000;

/** A request with an incomplete response. */
interface PendingRequest {
  /** Whether part of its body has not arrived. */
  readonly incomplete: boolean;
  respond(response: HttpResponse): void;
  /** Call it when the client has disconnected. */
  disconnected(): void;
}

interface ConnectionSets {
  readonly connections: Connections;
  readonly waiting: WaitingConnections;
}

/** A connection of Node's HTTP server and its requests in progress. */
export class NodeConnection implements WaitingConnection {
  readonly socket: Socket;
  readonly networks: readonly string[];
  readonly open = new Set<PendingRequest>();
  readonly #app: HttpApp;
  readonly #sets: ConnectionSets;
  readonly #stalledTimeout: number;
  #closed = false;
  /** Whether to ignore all later requests. */
  refused = false;
  /** Written before closing the connection. */
  #finalResponse: string | null = null;

  /** @param stalledTimeout ms before disconnecting a client that does not read its response */
  constructor(socket: Socket, app: HttpApp, sets: ConnectionSets, stalledTimeout: number) {
    this.socket = socket;
    this.networks = sets.connections.countedNetworks(socket.remoteAddress ?? '');
    this.#app = app;
    this.#sets = sets;
    this.#stalledTimeout = stalledTimeout;
    socket.on('error', () => {});
    sets.connections.open += 1;
    sets.waiting.add(this);
    socket.once('close', () => {
      this.#leaveSets();
      for (const request of this.open) request.disconnected();
      this.open.clear();
    });
  }

  /** Ends the connection at once. */
  close(): void {
    this.#leaveSets();
    this.socket.destroy();
  }

  #leaveSets(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sets.connections.open -= 1;
    this.#sets.waiting.delete(this);
  }

  /** Call it after reading a request. */
  begin(request: PendingRequest): void {
    this.open.add(request);
    this.#sets.waiting.delete(this);
  }

  /** Call it after writing a response. */
  onWrite(): void {
    if (this.socket.writableLength === 0 || this.#closed) return;
    this.socket.setTimeout(this.#stalledTimeout);
    this.#sets.waiting.add(this);
  }

  onEnd(request: PendingRequest): void {
    this.open.delete(request);
    this.#sets.waiting.delete(this);
    if (this.open.size > 0) return void this.socket.setTimeout(0);
    if (!this.#closed) this.#sets.waiting.add(this);
    if (this.refused) this.#end();
  }

  /**
   * Responds to invalid bytes, and closes the connection. Bytes in a body belong to a request in
   * progress; other bytes, and so the response, follow the requests in progress.
   */
  refuse(error: ServiceError): void {
    if (this.refused) return;
    this.refused = true;
    const response = this.#app.errorResponse(error);
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
