import { join } from 'node:path';
import { loadUws } from '../../server/http/uws-library.ts';
import { script, startServer } from './launch.ts';
import type { Server } from './server.ts';

/** A response of the service from its memory cache, which the bare handler repeats. */
export interface RepeatedResponse {
  readonly headers: ReadonlyArray<readonly [string, string]>;
  readonly body: Uint8Array;
}

/** The headers that an HTTP server adds by itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'date',
  'uwebsockets',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

export const bareName = typeof loadUws() === 'string' ? 'bare node:http' : 'bare uWebSockets';

/** Requests an image until it comes from the memory cache. */
export async function cachedResponse(url: string): Promise<RepeatedResponse> {
  for (let request = 0; request < 3; request++) await (await fetch(url)).arrayBuffer();
  const response = await fetch(url);
  const body = new Uint8Array(await response.arrayBuffer());
  if (!response.ok || response.headers.get('x-cache') !== 'memory') {
    throw new Error(`${url}: ${response.status}, not from memory`);
  }
  return { headers: [...response.headers].filter(([name]) => !ownHeaders.has(name)), body };
}

/**
 * @param paths without queries; each gets a separate copy of the body, and other paths return
 *   404. An empty list shares a body between all paths.
 */
export const startBare = (
  { headers, body }: RepeatedResponse,
  cpus: string | null = null,
  paths: readonly string[] = [],
): Promise<Server> =>
  startServer(
    bareName,
    (port, folder) => [
      ...script('./bare-handler', import.meta.url),
      port,
      join(folder, 'headers.json'),
      join(folder, 'body'),
      join(folder, 'paths.json'),
    ],
    {
      cpus,
      files: () => ({
        'headers.json': JSON.stringify(headers),
        body,
        'paths.json': JSON.stringify(paths),
      }),
    },
  );
