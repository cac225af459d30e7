import type { IncomingMessage, ServerResponse } from 'node:http';
import { BaseRequest, hasUnexpectedBody } from './base-request.ts';
import type { NodeConnection } from './node-connection.ts';
import type { HttpResponse } from './request.ts';
import type { HttpApp } from './server.ts';

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
export class NodeHttpRequest extends BaseRequest {
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
    const [length, coding] = [this.header('content-length'), this.header('transfer-encoding')];
    this.isLast = hasUnexpectedBody(this.method, length, coding);
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
