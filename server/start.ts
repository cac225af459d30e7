import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../contract/log.ts';
import { programUrl } from '../contract/package.ts';
import { newCommand, settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { endsWithTerminal, ignoreOutputErrors } from '../contract/shutdown.ts';
import { RestartPolicy } from './cluster/restart-policy.ts';

/**
 * `npm start`: runs the service and its worker as processes, and restarts them when they die. Each
 * can also run alone (`start:server`, `start:worker`).
 */

const restartLimits = { immediate: 0, firstMs: 1_000, mostMs: 30_000, failedStarts: 12 };
/**
 * If a part that was never ready exits with 1 within this time, its settings are wrong; a restart
 * does not help.
 */
const cannotStartWithinMs = 30_000;

const { settings } = settingsFromCommandLine(
  newCommand('start').description('Run the image delivery service and its worker.'),
);
const log = createLogger(settings, 'start');

interface ChildProgram {
  readonly name: string;
  readonly entry: string;
  /** Whether the other parts end if this part cannot start. */
  readonly essential: boolean;
  /** Whether it has been ready. */
  wasReady: boolean;
  child: ChildProcess | null;
  readonly restarts: RestartPolicy;
}

const newProgram = (name: string, path: string, essential: boolean): ChildProgram => ({
  name,
  entry: fileURLToPath(programUrl(path)),
  essential,
  wasReady: false,
  child: null,
  restarts: new RestartPolicy(restartLimits),
});
const service = newProgram('service', 'server/main', true);
const worker = newProgram('worker', 'worker/main', false);
const programs = [service, worker];
let exitCode: number | null = null;

function run(part: ChildProgram): void {
  const startedAt = performance.now();
  let isReady = false;
  // The part gets its own process group, which a terminal's Ctrl-C does not reach: this process
  // signals it.
  const child = spawn(process.execPath, [...process.execArgv, part.entry], {
    // A part sends one message, when it is ready. When the channel closes with this process, the
    // part ends.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  part.child = child;
  child.once('message', () => {
    const isFirstStart = !part.wasReady;
    isReady = true;
    part.wasReady = true;
    // Not earlier, because each waiting job would use an attempt in vain.
    if (part === service && isFirstStart && exitCode === null) run(worker);
  });
  child.once('exit', (code, signal) => {
    part.child = null;
    endGroup(child);
    if (exitCode !== null) return finish();
    const ranMs = performance.now() - startedAt;
    const cannotStart = code === 1 && !part.wasReady && ranMs < cannotStartWithinMs;
    if (part.essential && cannotStart) return stop(1);
    const delayMs = part.restarts.ended(ranMs, isReady);
    const why = signal ?? code;
    const reason = part.restarts.giveUpReason;
    if (part.essential && reason !== null) {
      process.stderr.write(`Giving up on the ${part.name}: ${reason} (last: ${why}).\n`);
      return stop(1);
    }
    log.error({ process: part.name, why, delayMs }, 'restarting process');
    setTimeout(() => (exitCode === null ? run(part) : undefined), delayMs);
  });
}

/**
 * Kills the processes that a dead part left: a stopped or blocked process does not notice its
 * primary's end, and would keep the port in use.
 */
function endGroup({ pid = 0 }: ChildProcess): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left.
  }
}

/** @param signal SIGTERM gives load balancers time (`SERVICE_DRAIN_DELAY_MS`), SIGINT does not */
function stop(code: number, signal: 'SIGTERM' | 'SIGINT' = 'SIGINT'): void {
  exitCode ??= code;
  for (const { child } of programs) child?.kill(signal);
  finish();
}

function finish(): void {
  if (programs.every(({ child }) => child === null)) process.exit(exitCode ?? 0);
}

process.on('SIGTERM', () => stop(0, 'SIGTERM'));
process.on('SIGINT', () => {
  if (exitCode === null) return stop(0);
  // A second Ctrl-C does not wait for the parts to drain.
  for (const { child } of programs) child?.kill('SIGKILL');
});
ignoreOutputErrors();
if (endsWithTerminal()) {
  process.on('SIGHUP', () => stop(0));
} else {
  process.on('SIGHUP', () => service.child?.kill('SIGHUP'));
}
run(service);
