import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Test } from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import {
  type AcquireOptions,
  type SourceOptions,
  type SourceSettings,
  Sources,
} from '../../../pool/source/sources.ts';
import { until } from '../../until.ts';

export interface Origin {
  readonly port: number;
  readonly requests: IncomingMessage[];
  /** Open connections. */
  readonly sockets: Set<Socket>;
  url(path?: string, host?: string): URL;
  /** Resolves when all connections are closed. */
  quiet(): Promise<void>;
}

/** A real HTTP origin on 127.0.0.1, closed with the test. */
export async function startOrigin(t: Test, answer: RequestListener): Promise<Origin> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  return { requests, ...(await listen(t, server)) };
}

/** Listens with any server. */
export async function listen(t: Test, server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    sockets,
    url: (path = '/', host = '127.0.0.1') => new URL(`http://${host}:${port}${path}`),
    quiet: async () => {
      await until('all connections are closed', () => sockets.size === 0);
    },
  };
}

/** The ServiceError of a rejected promise. */
export async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('The promise did not reject.');
}

/** Sources that may use 127.0.0.1, closed with the test. Every name resolves to it. */
export function openSources(
  t: Test,
  changes: Partial<SourceSettings> = {},
  options: SourceOptions = {},
): Sources {
  const settings: SourceSettings = {
    fetchConcurrency: 8,
    privateSources: ['127.0.0.1:*'],
    sourcePorts: [80, 443],
    dnsServers: null,
    sourceMaxBytes: 1_000_000,
    sourceHeldBytes: 134_217_728,
    sourceTimeoutMs: 20_000,
    own: { urls: [], ports: [1] },
    ...changes,
  };
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const sources = new Sources(settings, { resolve, ...options });
  t.teardown(() => sources.close());
  return sources;
}

let clients = 0;

/** Options of a client with a project of its own, which may use every host and never aborts. */
export function client(changes: Partial<AcquireOptions> = {}): AcquireOptions {
  clients += 1;
  return {
    project: `p${clients}`,
    allowed: () => true,
    signal: new AbortController().signal,
    ...changes,
  };
}
