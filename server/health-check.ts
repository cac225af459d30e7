import { settingsOrExit } from '../contract/settings/load.ts';

/**
 * `node dist/server/health-check.js [worker]`: exits with 0 when the service (or the worker) of this
 * machine answers, for the health checks of containers. The state of the store does not count: restarting
 * a container that still serves images does not repair the store.
 */

const withinMs = 4_000;

const { host, port, workerHost, workerPort } = settingsOrExit();

/** The address at which a listener of this machine is reached. */
function addressOf(listener: string): string {
  if (listener === '0.0.0.0') return '127.0.0.1';
  if (listener === '::') return '[::1]';
  return listener.includes(':') ? `[${listener}]` : listener;
}

const url =
  process.argv[2] === 'worker'
    ? `http://${addressOf(workerHost)}:${workerPort}/health/live`
    : `http://${addressOf(host)}:${port}/api/health/live`;
const problem = await fetch(url, { signal: AbortSignal.timeout(withinMs) }).then(
  async (response) =>
    response.ok ? null : `answered ${response.status}: ${await response.text()}`,
  (error: unknown) => `does not answer: ${error instanceof Error ? error.message : error}`,
);
if (problem !== null) {
  process.stderr.write(`${url} ${problem}\n`);
  process.exitCode = 1;
}
