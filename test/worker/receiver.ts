import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../listen.ts';

/** 32 zero bytes. */
export const hookSecret = `whsec_${Buffer.alloc(32).toString('base64')}`;

export interface Webhook {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // Untyped: tests check it.
  readonly body: ReturnType<typeof JSON.parse>;
  /** Unix ms. */
  readonly at: number;
}

export interface Receiver {
  /** URL with no trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The requests so far, all of them with a valid signature. */
  readonly received: readonly Webhook[];
  /** Sets the responses. By default it returns 204. */
  answer(next: (response: ServerResponse, count: number) => void): void;
}

/** Starts a webhook receiver that returns 401 for invalid signatures. */
export async function startReceiver(
  t: { teardown(action: () => void): void },
  secret = hookSecret,
): Promise<Receiver> {
  const received: Webhook[] = [];
  let answer = (response: ServerResponse, _count: number): void => {
    response.writeHead(204).end();
  };
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { headers, url: path = '', method } = request;
    const at = Date.now();
    const [id, seconds] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
    const digest = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
    const isSigned = String(headers['webhook-signature']).split(' ').includes(`v1,${digest}`);
    const isFresh = Math.abs(Number(seconds) - at / 1_000) < 60;
    if (method !== 'POST' || !isSigned || !isFresh) return response.writeHead(401).end();
    received.push({ id, path, headers, body: JSON.parse(body), at });
    return answer(response, received.length);
  });
  const port = await listen(t, server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answer(next) {
      answer = next;
    },
  };
}
