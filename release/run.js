import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** Runs a program, whose output is shown. @throws when it fails */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (status !== 0)
    throw new Error(
      `${[command, ...args].join(' ')}: ${error?.message ?? `it ended with ${status}`}`,
    );
}

/** Runs a program. @returns its output @throws when it fails */
export function outputOf(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    ...options,
  });
  if (status === 0) return stdout.trim();
  throw new Error(`${[command, ...args].join(' ')}: ${error?.message ?? stderr.trim()}`);
}

/** Whether a program runs and succeeds. */
export const succeeds = (command, args) =>
  spawnSync(command, args, { cwd: root, stdio: 'ignore' }).status === 0;

/** Says what is done. */
export const say = (text) => process.stdout.write(`\n==> ${text}\n`);
