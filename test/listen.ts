import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/**
 * Starts a server on a free port of 127.0.0.1 and closes it at the end of the test.
 * @returns the port
 */
export async function listen(
  t: { teardown(action: () => void): void },
  server: Server,
): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
