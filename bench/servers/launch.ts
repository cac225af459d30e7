import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../resources.ts';
import type { Server } from './server.ts';

const readyWithinMs = 60_000;
const endsWithinMs = 15_000;

/** Returns whether a command is installed. */
export const installed = (command: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;

const canPin = installed('taskset');

/** The first processor for a server and the others for the load, if there are several; null: all. */
export const pinning = (cores: number): Record<'server' | 'load', string | null> =>
  canPin && cores > 1 ? { server: '0', load: `1-${cores - 1}` } : { server: null, load: null };

/**
 * Starts a command; its messages go to standard error.
 * @param cpus processors to use, in taskset's format; null for all
 */
export function startCommand(
  command: readonly string[],
  cpus: string | null = null,
  options: SpawnOptions = {},
): ChildProcess {
  const [program = '', ...args] = cpus === null ? command : ['taskset', '-c', cpus, ...command];
  return spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}

/**
 * Runs a command to its end.
 * @param input for its standard input
 * @returns its standard output
 * @throws with its exit code
 */
export async function readOutput(
  command: readonly string[],
  cpus: string | null,
  input: string,
): Promise<string> {
  const child = startCommand(command, cpus, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  child.stdin?.end(input);
  const printed = text(child.stdout ?? Readable.from([]));
  const [code] = await ended;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`);
  return printed;
}

/** The command that runs a module of the benchmark, built or as source as the caller is. */
export function script(path: string, caller: string): string[] {
  const extension = extname(caller);
  const file = fileURLToPath(new URL(`${path}${extension}`, caller));
  return [process.execPath, ...(extension === '.ts' ? ['--import=tsx'] : []), file];
}

/** Resolves when the process has ended; kills it after 15 s. */
export async function end(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  // A paused process handles no other signals.
  child.kill('SIGCONT');
  const late = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
  await ended;
  clearTimeout(late);
}

export async function ephemeralPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * Resolves when the URL returns a success, or any status if `anyStatus`.
 * @param child rejects if it ends
 */
export async function untilOk(
  url: string,
  child: ChildProcess | null = null,
  { everyMs = 50, anyStatus = false } = {},
): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const response = await fetch(url).catch(() => null);
    await response?.arrayBuffer();
    if (response !== null && (anyStatus || response.ok)) return;
    if (child !== null && (child.exitCode !== null || child.signalCode !== null)) {
      throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`);
    }
    if (Date.now() > deadline) throw new Error(`${url} does not answer`);
    await sleep(everyMs);
  }
}

export interface ServerOptions {
  readonly cpus?: string | null;
  readonly env?: NodeJS.ProcessEnv;
  /** Files in the temporary folder of the server, by name. */
  readonly files?: (folder: string, port: number) => Readonly<Record<string, string | Uint8Array>>;
}

/**
 * Starts a server on a free port of 127.0.0.1, with a temporary folder that close deletes.
 * @param command returns the command for a port and the folder
 */
export async function startServer(
  name: string,
  command: (port: string, folder: string) => readonly string[],
  { cpus = null, env = process.env, files = () => ({}) }: ServerOptions = {},
): Promise<Server> {
  const folder = await temporaryFolder('bench');
  const port = await ephemeralPort();
  for (const [file, content] of Object.entries(files(folder.path, port))) {
    await writeFile(join(folder.path, file), content);
  }
  const startedAt = performance.now();
  const child = startCommand(command(String(port), folder.path), cpus, { env });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await end(child);
    await folder.close();
  };
  try {
    await untilOk(url, child, { everyMs: 4, anyStatus: true });
  } catch (error) {
    await close();
    throw error;
  }
  return { name, url, pid: child.pid ?? 0, healthyMs: performance.now() - startedAt, close };
}

/** Returns the ids of a process and its descendants, from /proc. */
export async function processTree(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8').catch(() => '')),
  );
  const ids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(ids.map(processTree))).flat()];
}

/** The resident memory of a process in bytes; 0 when it has ended. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

/** The resident memory of a process and its descendants, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const ids = await processTree(pid);
  return sum(await Promise.all(ids.map(residentBytes))) / 2 ** 20;
}

/** Runs `work`, and returns its result with the highest resident memory meanwhile, in MiB, read ten times per second. */
export async function withPeakMemory<T>(pid: number, work: () => Promise<T>) {
  let isDone = false;
  let peakMiB = 0;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    peakMiB = Math.max(peakMiB, await residentMiB(pid));
    await Promise.race([working, sleep(100)]);
  }
  return { result: await working, peakMiB };
}

/** The unit of processor time on Linux, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of a process and its descendants, user and system, in ms; NaN without /proc. */
export async function processorMs(pid: number): Promise<number> {
  const times = (await processTree(pid)).map(async (id) => {
    const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
    // The name before the last parenthesis can contain spaces; user and system time are the fields
    // 14, 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return tickMs * (Number(fields[11]) + Number(fields[12]));
  });
  return sum(await Promise.all(times));
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
