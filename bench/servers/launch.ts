import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const readyWithinMs = 60_000;
const endsWithinMs = 15_000;

/** Whether a command is installed. */
export const installed = (command: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;

export interface LaunchOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The processors that it may use, as taskset lists them; all when null. */
  readonly cpus?: string | null;
}

/** Starts a program whose messages appear on this process's standard error. */
export function launch(command: readonly string[], options: LaunchOptions = {}): ChildProcess {
  const [program = '', ...args] = pinned(command, options.cpus ?? null);
  return spawn(program, args, {
    env: options.env ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export const pinned = (command: readonly string[], cpus: string | null): readonly string[] =>
  cpus === null ? command : ['taskset', '-c', cpus, ...command];

/** The command that runs a module of the benchmark, built or as source as the caller is. */
export function script(path: string, caller: string): string[] {
  const extension = extname(caller);
  const file = fileURLToPath(new URL(`${path}${extension}`, caller));
  return [process.execPath, ...(extension === '.ts' ? ['--import=tsx'] : []), file];
}

/** Resolves when the process has ended; one that does not obey is killed. */
export async function end(
  child: ChildProcess | null,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  // A paused process handles no other signals.
  child.kill('SIGCONT');
  const late = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
  await ended;
  clearTimeout(late);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * Resolves when the URL answers with a success, or with any status when `anyStatus`.
 * @param child must not end meanwhile
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
