import { type ChildProcess, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';

/**
 * `npm start`: runs the service and its worker, each as a process that is restarted when it dies.
 * Each can also be deployed alone (`start:server`, `start:worker`).
 */

const healthyAfterMs = 30_000;
const backOffMs = { first: 500, most: 30_000 };

const settings = settingsOrExit();
const log = createLogger(settings, 'start');
const here = fileURLToPath(import.meta.url);

interface Part {
  readonly name: string;
  readonly entry: string;
  /** When this part cannot start, the others are ended too. */
  readonly essential: boolean;
  child: ChildProcess | null;
  earlyExits: number;
}

const newPart = (name: string, path: string, essential: boolean): Part => ({
  name,
  entry: join(here, '..', '..', `${path}${extname(here)}`),
  essential,
  child: null,
  earlyExits: 0,
});
const parts = [newPart('service', 'server/main', true), newPart('worker', 'worker/main', false)];
let exitCode: number | null = null;

function run(part: Part): void {
  const startedAt = performance.now();
  // In its own process group, so that a terminal's Ctrl-C does not reach it: this process signals it.
  const child = spawn(process.execPath, [...process.execArgv, part.entry], {
    // No message is sent over the channel; its closing tells the part that this process has ended.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  part.child = child;
  child.once('exit', (code, signal) => {
    part.child = null;
    if (exitCode !== null) return finish();
    const early = performance.now() - startedAt < healthyAfterMs;
    part.earlyExits = early ? part.earlyExits + 1 : 0;
    if (part.essential && early && code === 1) return stop(1);
    const delayMs = Math.min(backOffMs.first * 2 ** part.earlyExits, backOffMs.most);
    log.error({ process: part.name, why: signal ?? code, delayMs }, 'a process ended');
    setTimeout(() => (exitCode === null ? run(part) : undefined), delayMs);
  });
}

function stop(code: number): void {
  exitCode ??= code;
  for (const { child } of parts) child?.kill('SIGTERM');
  finish();
}

function finish(): void {
  if (parts.every(({ child }) => child === null)) process.exit(exitCode ?? 0);
}

process.on('SIGTERM', () => stop(0));
process.on('SIGINT', () => {
  if (exitCode === null) return stop(0);
  // A second Ctrl-C does not wait for the parts to drain.
  for (const { child } of parts) child?.kill('SIGKILL');
});
process.on('SIGHUP', () => parts[0]?.child?.kill('SIGHUP'));
for (const part of parts) run(part);
