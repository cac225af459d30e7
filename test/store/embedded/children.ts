import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { scriptArguments, scriptUrl } from '../../scripts.ts';
import { plainNode } from '../../service/service.ts';

export interface Child {
  readonly process: ChildProcess;
  /** Returns the next line of its standard output. */
  nextLine(): Promise<string>;
  /** Resolves with its exit code, or null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts `owner.ts`, a process that owns an embedded store; it ends with the test. */
export function startOwner(
  t: Test,
  args: readonly string[],
  prefix: readonly string[] = [],
): Child {
  const file = fileURLToPath(scriptUrl('./owner', import.meta.url));
  const [command = '', ...rest] = [...prefix, ...plainNode, ...scriptArguments, file, ...args];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    exited,
    async nextLine() {
      const { done, value } = await lines.next();
      if (done === true) throw new Error('the child has ended');
      return value;
    },
  };
}
