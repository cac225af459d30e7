import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { until } from '../until.ts';
import type { Reply } from './origin.ts';
import type { Service } from './service.ts';

/** A reply of an origin that waits until the test releases it. */
export interface HeldReply {
  readonly reply: Reply;
  /** Number of waiting requests from connected clients. */
  readonly waiting: number;
  /** Responds to the waiting requests, and from then on immediately. */
  release(): void;
}

export function held(body: Buffer | Reply): HeldReply {
  const waiting = new Map<ServerResponse, IncomingMessage>();
  const give: Reply = (request, response) =>
    Buffer.isBuffer(body) ? void response.end(body) : body(request, response);
  let released = false;
  return {
    reply(request, response) {
      if (released) return give(request, response);
      waiting.set(response, request);
      response.once('close', () => waiting.delete(response));
    },
    get waiting() {
      return waiting.size;
    },
    release() {
      released = true;
      for (const [response, request] of waiting) void give(request, response);
      waiting.clear();
    },
  };
}

export interface Sent {
  /** Resolves once the whole request has been sent. */
  readonly sent: Promise<void>;
  readonly response: Promise<{ readonly status: number; readonly body: Buffer }>;
  /** Closes the connection. */
  leave(): void;
}

/** Sends a GET on a separate connection. */
export function get(url: string): Sent {
  const agent = new Agent({ keepAlive: false });
  const outgoing = request(url, { agent });
  const sent = new Promise<void>((resolve) => void outgoing.once('finish', resolve));
  const received = new Promise<Awaited<Sent['response']>>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
      } catch (error) {
        reject(error);
      }
    });
  });
  outgoing.end();
  return { sent, response: received, leave: () => void outgoing.destroy() };
}

/**
 * Resolves once every front end has received all earlier requests: each has responded to two later
 * requests over newer connections.
 */
export async function earlierRequestsReceived(
  service: Pick<Service, 'url' | 'frontEnds'>,
): Promise<void> {
  const responses = new Map<number, number>();
  await until('each front end responds', async () => {
    const response = await fetch(`${service.url}/api/health`, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    const pid = answeredBy(response.headers);
    responses.set(pid, (responses.get(pid) ?? 0) + 1);
    return service.frontEnds().every((frontEnd) => (responses.get(frontEnd) ?? 0) >= 2);
  });
}

/** Returns the pid of the responding front end, from the request id. */
export function answeredBy(headers: Headers): number {
  return Number.parseInt(headers.get('x-request-id')?.split('-')[0] ?? '', 36);
}
