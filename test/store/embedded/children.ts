import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { scriptArguments, scriptUrl } from '../../scripts.ts';

export interface Child {
  readonly process: ChildProcess;
  /** Its standard output. */
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves with its exit code, or null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Runs a script of this folder, named without its extension, in a process until the end of the test. */
export function spawnScript(t: Test, script: string, args: string[], prefix: string[] = []): Child {
  const file = fileURLToPath(scriptUrl(script, import.meta.url));
  const [command = '', ...rest] = [
    ...prefix,
    // Without tap's hooks for child processes.
    'env',
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    ...scriptArguments,
    file,
    ...args,
  ];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, lines, exited };
}

/** The child's next line. */
export async function nextLine(child: Child): Promise<string> {
  const { done, value } = await child.lines.next();
  if (done === true) throw new Error('the child has ended');
  return value;
}

/** All of the child's lines from now on. */
export async function remainingLines(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of child.lines) lines.push(line);
  return lines;
}
