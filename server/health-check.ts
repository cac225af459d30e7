import { setTimeout as sleep } from 'node:timers/promises';
import { Argument } from 'commander';
import { newCommand, settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { listenerUrls } from '../contract/settings/listeners.ts';

/**
 * `image-delivery health`, for containers and service managers. Ignores the store's state:
 * restarting a container that still serves images does not repair the store. systemd sets the
 * variable MAINPID to the service's process.
 */

const withinMs = 4_000;
const waitMs = 60_000;
const waitEveryMs = 100;

const command = newCommand('health')
  .description(
    "Exit with code 0 if this machine's service is ready, or if its worker responds; otherwise with code 1.",
  )
  .addArgument(
    new Argument('[part]', 'the part to check').choices(['service', 'worker']).default('service'),
  )
  .option('--wait', 'repeat the check for a minute, or until the process in MAINPID ends');
const { settings } = settingsFromCommandLine(command, ['host', 'port', 'workerHost', 'workerPort']);
const { host, port, workerHost, workerPort } = settings;
const { wait } = command.opts<{ wait?: true }>();
const [part] = command.processedArgs;
const urls =
  part === 'worker'
    ? listenerUrls(workerHost, workerPort).map((url) => `${url}/health/live`)
    : listenerUrls(host, port).map((url) => `${url}/api/ready`);
const otherPort =
  part === 'worker'
    ? 'If the worker has another port, pass --worker-port.'
    : 'If the service has another port, pass --port.';

/** Resolves with the problem at the first address that responds, or else at the first, or null. */
async function check(): Promise<string | null> {
  let problem: string | null = null;
  for (const url of urls) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
      return response.ok ? null : `${url} returned ${response.status}: ${await response.text()}`;
    } catch (error) {
      problem ??= `${url} does not respond: ${error instanceof Error ? (error.cause ?? error) : error}. ${otherPort}`;
    }
  }
  return problem;
}

function mainProcessEnded(): boolean {
  const pid = Number(process.env['MAINPID'] ?? 0);
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

// Bundles cannot await at the top level.
async function main(): Promise<void> {
  const until = performance.now() + (wait ? waitMs : 0);
  let problem = await check();
  while (problem !== null && performance.now() < until) {
    if (mainProcessEnded()) {
      problem += ', and the main process has ended';
      break;
    }
    await sleep(waitEveryMs);
    problem = await check();
  }
  if (problem !== null) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}

void main();
