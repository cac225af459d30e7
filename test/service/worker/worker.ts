import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { rootPath } from '../../root.ts';
import { until } from '../../until.ts';
import { freePort, type json, type LogLine, plainNode, type Service } from '../service.ts';

interface Teardown {
  teardown(action: () => Promise<unknown>): void;
}

/** A process with a built program of the service. */
export interface Program {
  readonly process: ChildProcess;
  readonly log: readonly LogLine[];
  readonly stdout: () => string;
  readonly stderr: () => string;
  logged(message: string): LogLine[];
  /** Resolves when the log has this number of lines with the message; rejects after a timeout. */
  untilLogged(message: string, count?: number): Promise<void>;
  /** Sends a signal, if any, and resolves with the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals | null): Promise<number | NodeJS.Signals | null>;
}

export interface Worker extends Program {
  readonly url: string;
  /** Requests the operations server; status 0 while it does not listen. */
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; text: string; body: Body }>;
}

type Body = Awaited<ReturnType<typeof json>>;
type Environment = Readonly<Record<string, string>>;

/**
 * @param entry below the build's folder, such as `worker/main.js`
 * @param redirections of its output, as a shell reads them
 */
export function startProgram(
  t: Teardown,
  entry: string,
  cwd: string,
  environment: Environment,
  options: readonly string[] = [],
  redirections = '',
): Program {
  const command = [...plainNode, join(rootPath, 'dist', entry), ...options];
  const child = spawn('sh', ['-c', `exec "$@" ${redirections}`, 'sh', ...command], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const log: LogLine[] = [];
  let [stdout, stderr] = ['', ''];
  createInterface({ input: child.stdout }).on('line', (line) => {
    stdout += `${line}\n`;
    if (line.startsWith('{')) log.push(JSON.parse(line));
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const logged = (message: string) => log.filter(({ msg }) => msg === message);
  const end: Program['end'] = (signal) => {
    if (signal !== null) child.kill(signal);
    return ended;
  };
  t.teardown(() => end('SIGKILL'));
  return {
    process: child,
    log,
    logged,
    end,
    stdout: () => stdout,
    stderr: () => stderr,
    untilLogged: async (message, count = 1) => {
      const isLogged = () => logged(message).length >= count;
      await until(`${count} x '${message}' in the log`, isLogged).catch((error) => {
        throw new Error(`${error.message}\n${stderr}\n${JSON.stringify(log.slice(-20))}`);
      });
    },
  };
}

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
    // Without a resolver, for any base URL of a test.
    SERVICE_INTERNAL_URL: `http://127.0.0.1:${environment['SERVICE_PORT'] ?? 3000}`,
    ...more,
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    ...program,
    url,
    async get(path, headers = {}) {
      const response = await fetch(url + path, { headers, redirect: 'manual' }).catch(() => null);
      if (response === null) return { status: 0, headers: new Headers(), text: '', body: null };
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const body: Body = isJson ? JSON.parse(text) : null;
      return { status: response.status, headers: response.headers, text, body };
    },
  };
}

/** The `x-cache` of a response with status 200, or else the status. */
export async function cacheOf(url: string, accept = '*/*'): Promise<string> {
  const response = await fetch(url, { headers: { accept } });
  await response.arrayBuffer();
  return response.status === 200 ? String(response.headers.get('x-cache')) : `${response.status}`;
}
