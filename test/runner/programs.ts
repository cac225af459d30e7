import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { rootPath } from '../root.ts';

/** Interval of the reports while no program ends. */
const reportMs = 10_000;

const startedAt = performance.now();
const running = new Map<ChildProcess, { readonly name: string; readonly from: number }>();
let printedAt = startedAt;

export interface ProgramResult {
  /** The exit code, or the signal that ended the program. */
  readonly end: number | NodeJS.Signals | null;
  /** Printed lines. */
  readonly lines: readonly string[];
  readonly ms: number;
}

/** `1:05` for 65 s. */
export function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Prints a line with the time since the start. */
export function print(text: string): void {
  printedAt = performance.now();
  process.stdout.write(`${minutes(printedAt - startedAt).padStart(5)}  ${text}\n`);
}

/** Signals a program and its descendants, such as a service. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  // The program did not start; 0 would signal this process's group.
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch (error) {
    // The program has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Runs Node in a separate process group. `limitMs` only ends endless waits. */
export async function runNode(
  name: string,
  args: readonly string[],
  limitMs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramResult> {
  const from = performance.now();
  const lines: string[] = [];
  const child = spawn(process.execPath, args, {
    cwd: rootPath,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const limit = setTimeout(() => signal(child, 'SIGKILL'), limitMs);
  running.set(child, { name, from });
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => lines.push(line));
  }
  const end = await new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  clearTimeout(limit);
  running.delete(child);
  return { end, lines, ms: performance.now() - from };
}

/** Prints the running programs after a while with no output. */
export function reportWhatRuns(): void {
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - printedAt < reportMs) return;
    const names = [...running.values()].map(({ name, from }) => `${name} (${minutes(now - from)})`);
    print(`running: ${names.join(', ')}`);
  }, 1_000);
  timer.unref();
}

/** Ends the running programs. */
export function endPrograms(): void {
  for (const child of running.keys()) signal(child, 'SIGKILL');
}
