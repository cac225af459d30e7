import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../listen.ts';

/** Action of the proxy on a request. */
export type Fault =
  | 'pass'
  /** The service does its work, and the connection breaks in the middle of its response. */
  | 'half'
  /** The service does its work, and the connection breaks before its response. */
  | 'none'
  /** Neither the service nor the client receives anything. */
  | 'silence'
  /** The proxy responds itself. The service receives no request. */
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

/** Returns an error in the service's form. */
export const refusal = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
) => ({
  status,
  headers: { 'content-type': 'application/json', 'x-request-id': 'a-b-1', ...headers },
  body: JSON.stringify({ error: 'No', code, message: 'Not now.', resolution_hint: 'Wait.' }),
});

export interface FaultyProxy {
  /** URL with no trailing slash. */
  readonly url: string;
  /** Faults of the next requests. The proxy forwards the others. */
  readonly faults: Fault[];
  readonly requests: {
    readonly method: string;
    readonly target: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[];
}

/** Starts a proxy in front of a service, with faults that the test sets. */
export async function startFaultyProxy(
  t: { teardown(action: () => void): void },
  service: string,
): Promise<FaultyProxy> {
  const faults: Fault[] = [];
  const requests: FaultyProxy['requests'] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: target = '', headers } = incoming;
    const body = await buffer(incoming);
    requests.push({ method, target, headers, body: String(body) });
    const fault = faults.shift() ?? 'pass';
    if (fault === 'silence') return;
    if (typeof fault === 'object') {
      outgoing.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    const answer = await forward(service + target, incoming, body);
    if (fault === 'none') outgoing.destroy();
    else reply(outgoing, answer, fault === 'half');
  });
  const port = await listen(t, server);
  return { url: `http://127.0.0.1:${port}`, faults, requests };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function forward(url: string, { method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: method ?? 'GET', headers, agent: false });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((body) => resolve({ status, headers, body }), reject);
    });
    outgoing.end(body);
  });
}

function reply(outgoing: ServerResponse, { status, headers, body }: Answer, isHalf: boolean): void {
  outgoing.writeHead(status, headers);
  if (isHalf) outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
  else outgoing.end(body);
}
