import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadUws } from '../../server/http/uws-library.ts';
import { end, freePort, launch, script, untilOk } from './launch.ts';
import { pidOf, type Server } from './server.ts';

/** What the handler answers: of an image that the service has delivered. */
export interface Answer {
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

/** The answer of the service to a request that is a hit. */
export async function hitAnswer(url: string): Promise<Answer> {
  for (let request = 0; request < 3; request++) await (await fetch(url)).arrayBuffer();
  const response = await fetch(url);
  const body = new Uint8Array(await response.arrayBuffer());
  if (!response.ok || response.headers.get('x-cache') !== 'memory') {
    throw new Error(`${url}: ${response.status}, not from memory`);
  }
  return { headers: [...response.headers].filter(([name]) => !ownHeaders.has(name)), body };
}

export interface BareOptions {
  readonly processes?: number;
  readonly cpus?: string | null;
  /** Paths without queries: each has a copy of the body to itself, and others 404. None: one body for all. */
  readonly paths?: readonly string[];
}

export async function startBare(
  { headers, body }: Answer,
  { processes = 1, cpus = null, paths = [] }: BareOptions = {},
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'image-delivery-bare-'));
  const inFolder = (name: string) => join(folder, name);
  const files = [inFolder('headers.json'), inFolder('body'), inFolder('paths.json')] as const;
  const [headersFile, bodyFile, pathsFile] = files;
  await writeFile(headersFile, JSON.stringify(headers));
  await writeFile(bodyFile, body);
  await writeFile(pathsFile, JSON.stringify(paths));
  const port = await freePort();
  const args = [String(port), headersFile, bodyFile, String(processes), pathsFile];
  const child = launch([...script('./bare-handler', import.meta.url), ...args], { cpus });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  const startedAt = performance.now();
  try {
    await untilOk(url, child, { anyStatus: true });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: bareName,
    url,
    pid: pidOf(child),
    healthyMs: performance.now() - startedAt,
    close,
  };
}
