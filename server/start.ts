import { type ChildProcess, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';

/**
 * `npm start`: the service and its worker, each a process of its own that is started again when it
 * dies. Either can be deployed alone instead (`start:server`, `start:worker`).
 */

const healthyAfterMs = 30_000;
const backOffMs = { first: 500, most: 30_000 };

const settings = settingsOrExit();
const log = createLogger(settings, 'start');
const here = fileURLToPath(import.meta.url);

interface Part {
  readonly name: string;
  readonly entry: string;
  /** Without this part there is no point in going on: its refusal to start ends the others. */
  readonly essential: boolean;
  child: ChildProcess | null;
  earlyEnds: number;
}

const part = (name: string, path: string, essential: boolean): Part => ({
  name,
  entry: join(here, '..', '..', `${path}${extname(here)}`),
  essential,
  child: null,
  earlyEnds: 0,
});
const parts = [part('service', 'server/main', true), part('worker', 'worker/main', false)];
let exitCode: number | null = null;

function begin(one: Part): void {
  const startedAt = performance.now();
  // In groups of their own, so that a terminal's Ctrl-C reaches each part once, from here.
  const child = spawn(process.execPath, [...process.execArgv, one.entry], {
    // The channel says nothing; its end tells the part that this process is gone.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  one.child = child;
  child.once('exit', (code, signal) => {
    one.child = null;
    if (exitCode !== null) return finish();
    const early = performance.now() - startedAt < healthyAfterMs;
    one.earlyEnds = early ? one.earlyEnds + 1 : 0;
    if (one.essential && early && code === 1) return stop(1);
    const delayMs = Math.min(backOffMs.first * 2 ** one.earlyEnds, backOffMs.most);
    log.error({ process: one.name, why: signal ?? code, delayMs }, 'a process ended');
    setTimeout(() => (exitCode === null ? begin(one) : undefined), delayMs);
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
  // A second Ctrl-C: somebody does not want to wait.
  for (const { child } of parts) child?.kill('SIGKILL');
});
process.on('SIGHUP', () => parts[0]?.child?.kill('SIGHUP'));
for (const one of parts) begin(one);
