import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EngineHost } from './engine.ts';
import { Exchange } from './exchange.ts';
import type { NodeConnection } from './node-connection.ts';
import type { HttpResponse } from './request.ts';

/** A client that takes nothing for so long of what is sent to it has left. */
const stalledAfterMs = 30_000;

/**
 * The path and the query of a request target. RFC 9112, 3.2.2: a client may send an absolute URL, as
 * to a proxy; its authority says no more than a Host header does.
 */
export function pathOf(target: string): { path: string; query: string } {
  let origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  if (origin === '' || origin.startsWith('?')) origin = `/${origin}`;
  // Node reads bytes beyond ASCII as Latin-1; what people mean is UTF-8.
  if (/[\x80-\xff]/.test(origin)) origin = Buffer.from(origin, 'latin1').toString('utf8');
  const mark = origin.indexOf('?');
  return mark === -1
    ? { path: origin, query: '' }
    : { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

/** A request to Node's HTTP server, which keeps the order of the answers to pipelined ones. */
export class NodeExchange extends Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #connection: NodeConnection;

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    host: EngineHost,
    connection: NodeConnection,
  ) {
    super(host);
    this.#req = req;
    this.#res = res;
    this.#connection = connection;
    this.method = req.method ?? '';
    const { path, query } = pathOf(req.url ?? '');
    this.path = path;
    this.query = query;
  }

  /** Whether its body is still to come. */
  get incomplete(): boolean {
    return !this.#req.complete;
  }

  header(name: string): string {
    return String(this.#req.headers[name] ?? '');
  }

  readBody(maxBytes: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
      this.#req.on('data', (chunk: Buffer) => {
        // Read to its end in any case, or the next request could not follow.
        bytes += chunk.byteLength;
        if (!this.over && bytes <= maxBytes) return void chunks.push(chunk);
        chunks = [];
        resolve(null);
      });
      this.#req.on('end', () => resolve(Buffer.concat(chunks)));
    });
  }

  protected write({ status, headers, body }: HttpResponse): void {
    const res = this.#res;
    const fields: string[] = [];
    for (const [name, value] of headers) fields.push(name, value);
    fields.push('x-request-id', this.id);
    // RFC 9110, 8.6: a HEAD's length is the body's; a 204 has none, and a 304 needs none.
    if (body !== null) fields.push('content-length', String(Buffer.byteLength(body)));
    else if (status !== 204 && status !== 304) fields.push('content-length', '0');
    const unreadable = this.#connection.refused && this.incomplete;
    if (this.host.closing || unreadable) fields.push('connection', 'close');
    // The client may be gone already, which its connection is about to say.
    res.on('error', () => {});
    res.once('finish', () => {
      this.finish(status);
      this.#connection.over(this);
    });
    res.writeHead(status, fields);
    if (body === null || this.method === 'HEAD') res.end();
    else res.end(body);
    const { socket } = this.#connection;
    if (socket.writableLength > 0) socket.setTimeout(stalledAfterMs);
  }
}
