import type { Program } from '../program.ts';
import { freePort, type json, type Service, startProgram } from '../service.ts';

interface Teardown {
  teardown(action: () => Promise<unknown>): void;
}

export interface Worker extends Program {
  readonly url: string;
  /** Requests the operations listener; status 0 while it does not listen. */
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; text: string; body: Body }>;
}

type Body = Awaited<ReturnType<typeof json>>;
type Environment = Readonly<Record<string, string>>;

/** Starts a worker for a service, without waiting until it is ready. */
export async function startWorker(
  t: Teardown,
  { dataDir, environment }: Pick<Service, 'dataDir' | 'environment'>,
  more: Environment = {},
): Promise<Worker> {
  const port = await freePort();
  const program = startProgram(t, 'worker/main.js', dataDir, {
    ...environment,
    SERVICE_WORKER_PORT: String(port),
    // Skip the resolver, for any base URL of a test.
    SERVICE_INTERNAL_URL: `http://127.0.0.1:${environment['SERVICE_PORT'] ?? 3000}`,
    ...more,
  });
  const url = `http://127.0.0.1:${port}`;
  return Object.assign(program, {
    url,
    async get(path: string, headers: Readonly<Record<string, string>> = {}) {
      const response = await fetch(url + path, { headers, redirect: 'manual' }).catch(() => null);
      if (response === null) return { status: 0, headers: new Headers(), text: '', body: null };
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const body: Body = isJson ? JSON.parse(text) : null;
      return { status: response.status, headers: response.headers, text, body };
    },
  });
}

/** Returns the `x-cache` of a 200 response, or another status. */
export async function fetchCache(url: string, accept = '*/*'): Promise<string> {
  const response = await fetch(url, { headers: { accept } });
  await response.arrayBuffer();
  return response.status === 200 ? String(response.headers.get('x-cache')) : `${response.status}`;
}
