import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { indexPage } from './index-page.ts';
import { isPictureName, picture, pictures } from './pictures.ts';

export interface OriginOptions {
  /** Address to listen on; 127.0.0.1 when not given. */
  readonly host?: string;
  /** Port to listen on; 0, the default, takes a free one. */
  readonly port?: number;
}

/** A running origin server. */
export interface Origin {
  /** Its address without a trailing slash, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly port: number;
  /** How many requests have come for a path such as `/coast.jpg`, with any method and response. */
  requests(path: string): number;
  /** Stops listening and closes all connections, idle or not; a second call waits for the first. */
  close(): Promise<void>;
}

interface Entity {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

/** The most paths that are counted: scanners and fuzzers request the origin too. */
const COUNTED_PATHS = 10_000;

/**
 * Serves the sample pictures at `/<name>` and a page that shows them at `/`, over plain HTTP.
 * Rejects with Node's own error (such as code EADDRINUSE) when it cannot listen.
 */
export async function startOrigin(options: OriginOptions = {}): Promise<Origin> {
  const host = options.host ?? '127.0.0.1';
  const counts = new Map<string, number>();
  const entities = new Map<string, Entity>();

  const server = createServer((request, response) => {
    const path = pathOf(request);
    const count = counts.get(path);
    if (count !== undefined || counts.size < COUNTED_PATHS) counts.set(path, (count ?? 0) + 1);
    respond(path, request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'The picture could not be read.\n');
    });
  });

  async function respond(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      sendText(response, 405, 'Only GET and HEAD.\n');
      return;
    }
    const entity = entities.get(path) ?? (await load(path));
    if (entity === undefined) {
      sendText(response, 404, 'There is no such picture.\n');
      return;
    }
    entities.set(path, entity);
    response.setHeader('etag', entity.etag);
    response.setHeader('cache-control', 'public, max-age=3600');
    if (request.headers['if-none-match'] === entity.etag) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, {
      'content-type': entity.type,
      'content-length': entity.body.length,
      'x-content-type-options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : entity.body);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests: (path) => counts.get(path) ?? 0,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

/** The request's path without its query, as it was sent. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

async function load(path: string): Promise<Entity | undefined> {
  const name = path.slice(1);
  if (path === '/') return describe('text/html; charset=utf-8', Buffer.from(indexPage()));
  if (!path.startsWith('/') || !isPictureName(name)) return undefined;
  return describe(pictures[name].type, await picture(name));
}

function describe(type: string, body: Buffer): Entity {
  const digest = createHash('sha256').update(body).digest('base64url');
  return { type, body, etag: `"${digest.slice(0, 27)}"` };
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
}
