import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on a port of 127.0.0.1. */
export interface BodyServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

interface Body {
  readonly type: string;
  readonly body: Buffer;
}

type Found = Buffer | Body | undefined;

/**
 * Serves bodies from memory.
 * @param find the body of a request target (path and query); 404 when undefined
 * @param port 0 takes a free one; rejects with EADDRINUSE
 */
export async function serveBodies(
  find: (target: string) => Found | Promise<Found>,
  port = 0,
): Promise<BodyServer> {
  const server = createServer(async (request, response) => {
    const found = await find(request.url ?? '');
    if (found === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { type, body } = Buffer.isBuffer(found) ? { type: null, body: found } : found;
    if (type !== null) response.setHeader('content-type', type);
    response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(port, '127.0.0.1', done);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
