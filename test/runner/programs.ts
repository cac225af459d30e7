import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { rootPath } from '../root.ts';

/** Interval of the reports while no program ends. */
const reportMs = 10_000;

const begun = performance.now();
const running = new Map<ChildProcess, { readonly name: string; readonly from: number }>();
let printedAt = begun;

export interface ProgramResult {
  /** The exit code, or the signal that ended the program. */
  readonly end: number | NodeJS.Signals | null;
  /** What it printed. */
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
  process.stdout.write(`${minutes(printedAt - begun).padStart(5)}  ${text}\n`);
}

/** Signals a program and what it has started, such as a service. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  // Of a program that could not be started; 0 would be the group of this process.
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch (error) {
    // It has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Runs Node in a process group of its own. `limitMs` only ends endless waits. */
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

/** Prints what is running, whenever nothing else was printed for a while. */
export function reportWhatRuns(): void {
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - printedAt < reportMs) return;
    const names = [...running.values()].map(({ name, from }) => `${name} (${minutes(now - from)})`);
    print(`running: ${names.join(', ')}`);
  }, 1_000);
  timer.unref();
}

/** Ends what is running. */
export function endPrograms(): void {
  for (const child of running.keys()) signal(child, 'SIGKILL');
}
