import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** A status with a body, or whatever a test wants to do with the request. */
export type Answer =
  | readonly [status: number, body?: string]
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface Listener {
  /** Without a slash at the end. */
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly connections: () => number;
  /** Decides the answers from now on; 204, as the service answers a worker, until then. */
  answer(decide: (target: string, count: number) => Answer): void;
}

/** An HTTP server in the service's place, whose every answer the test decides. */
export async function startListener(t: { teardown(action: () => void): void }): Promise<Listener> {
  const asked: Asked[] = [];
  let decide: (target: string, count: number) => Answer = () => [204];
  let connections = 0;
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    asked.push({ target, headers: request.headers });
    const answer = decide(target, asked.length);
    if (typeof answer === 'function') return answer(request, response);
    const [status, body = ''] = answer;
    response.writeHead(status).end(body);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    connections: () => connections,
    answer(next) {
      decide = next;
    },
  };
}

/** The service's error body, as far as the worker reads it. */
export const apiErrorText = (code: string, message: string): string =>
  JSON.stringify({ error: message, code, message, resolution_hint: 'Think.' });
