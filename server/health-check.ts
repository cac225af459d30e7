import { settingsOrExit } from '../contract/settings/load.ts';

/**
 * `node dist/server/health-check.js [worker]`: exit code 0 when the service (or the worker) of this
 * machine answers, for the health checks of containers. Not whether its store does: what is done to an
 * unhealthy container, which still serves images, does not help then.
 */

const withinMs = 4_000;

const { host, port, workerHost, workerPort } = settingsOrExit();
const ofWorker = process.argv[2] === 'worker';

/** The address at which a listener of this machine is reached. */
function addressOf(listener: string): string {
  if (listener === '0.0.0.0') return '127.0.0.1';
  if (listener === '::') return '[::1]';
  return listener.includes(':') ? `[${listener}]` : listener;
}

const url = ofWorker
  ? `http://${addressOf(workerHost)}:${workerPort}/health/live`
  : `http://${addressOf(host)}:${port}/api/health/live`;
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
  if (!response.ok) {
    process.stderr.write(`${url} answered ${response.status}: ${await response.text()}\n`);
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(
    `${url} does not answer: ${error instanceof Error ? error.message : error}\n`,
  );
  process.exitCode = 1;
}
