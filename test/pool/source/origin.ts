import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Test } from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import type { Settings } from '../../../contract/settings/table.ts';
import { AddressGuard, type GuardOptions } from '../../../pool/source/guard.ts';
import {
  type AcquireOptions,
  type SourceOptions,
  type SourceSettings,
  Sources,
} from '../../../pool/source/sources.ts';
import { defaultSettings } from '../../settings.ts';
import { until } from '../../until.ts';

export interface Origin {
  readonly port: number;
  readonly requests: IncomingMessage[];
  /** Open connections. */
  readonly sockets: Set<Socket>;
  url(path?: string, host?: string): URL;
  /** Resolves once all connections are closed. */
  quiet(): Promise<void>;
}

/** Starts an HTTP origin on 127.0.0.1 that closes with the test. */
export async function startOrigin(
  t: Test,
  answer: RequestListener = (_, response) => response.end('picture'),
): Promise<Origin> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  return { requests, ...(await listen(t, server)) };
}

/** Starts an origin with responses that wait for the test. A path's query is its body length. */
export async function startHeldOrigin(t: Test) {
  const held = new Map<string, () => void>();
  const origin = await startOrigin(t, ({ url: path = '' }, response) => {
    held.set(path, () => response.end(Buffer.alloc(Number(path.split('?')[1] ?? 7))));
  });
  /** Waits for a request to each path, and responds. */
  const respond = async (...paths: readonly string[]) => {
    for (const path of paths) {
      await until(`${path} is requested`, () => held.has(path));
      held.get(path)?.();
      held.delete(path);
    }
  };
  const paths = () => origin.requests.map(({ url }) => url);
  return { ...origin, held, respond, paths };
}

/** Listens with any server. */
export async function listen(t: Pick<Test, 'teardown'>, server: Server) {
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

/** Returns the ServiceError of a rejected promise. */
export async function expectFailure(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('The promise did not reject.');
}

/** Returns a guard that allows these private sources, and public sources at any port. */
export const createGuard = (
  privateSources: readonly string[] = [],
  changes: Partial<GuardOptions> = {},
): AddressGuard =>
  new AddressGuard({ privateSources, sourcePorts: null, own: { urls: [], ports: [] }, ...changes });

export const sourceSettings: Settings = {
  ...defaultSettings,
  port: 1,
  fetchConcurrency: 8,
  privateSources: ['127.0.0.1:*'],
  sourceMaxBytes: 1_000_000,
  sourceTimeoutMs: 20_000,
};

/** Opens sources that resolve every name to 127.0.0.1 and allow it. They close with the test. */
export function openSources(
  t: Test,
  changes: Partial<SourceSettings> = {},
  options: SourceOptions = {},
): Sources {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const sources = new Sources({ ...sourceSettings, ...changes }, { resolve, ...options });
  t.teardown(() => sources.close());
  return sources;
}

let clients = 0;

/** Returns options of a client with a separate project that allows every host and never aborts. */
export function client(changes: Partial<AcquireOptions> = {}): AcquireOptions {
  clients += 1;
  return {
    project: `p${clients}`,
    isAllowedHost: () => true,
    signal: new AbortController().signal,
    ...changes,
  };
}
