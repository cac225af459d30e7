import { createServer } from 'node:http';

/** A server of bodies that are in memory, on a port of 127.0.0.1. */
export interface BodyServer {
  /** Without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param find the body of a request target, path and query; 404 without one
 * @param port 0 takes a free one
 */
export async function serveBodies(
  find: (target: string) => Buffer | undefined,
  port = 0,
): Promise<BodyServer> {
  const server = createServer((request, response) => {
    const body = find(request.url ?? '');
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(port, '127.0.0.1', done);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
