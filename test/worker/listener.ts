import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../listen.ts';

export interface Received {
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** A status with a body, or a handler of the request. */
export type Answer =
  | readonly [status: number, body?: string]
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface Listener {
  /** URL with no trailing slash. */
  readonly url: string;
  readonly received: readonly Received[];
  readonly connections: () => number;
  /** Sets the responses. By default it returns 204, like the service to a worker. */
  answer(decide: (target: string, count: number) => Answer): void;
}

/** Starts an HTTP server in place of the service, with the test's responses. */
export async function startListener(t: { teardown(action: () => void): void }): Promise<Listener> {
  const received: Received[] = [];
  let decide: (target: string, count: number) => Answer = () => [204];
  let connections = 0;
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    received.push({ target, headers: request.headers });
    const answer = decide(target, received.length);
    if (typeof answer === 'function') return answer(request, response);
    const [status, body = ''] = answer;
    response.writeHead(status).end(body);
  });
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listen(t, server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    connections: () => connections,
    answer(next) {
      decide = next;
    },
  };
}

/** Returns the service's error body. */
export const apiErrorText = (code: string, message: string): string =>
  JSON.stringify({ error: message, code, message, resolution_hint: 'Think.' });
