import { listenerUrl } from '../contract/settings/listeners.ts';
import { settingsOrExit } from '../contract/settings/load.ts';

/**
 * `node dist/server/health-check.js [worker]`: exits with 0 when the service (or the worker) of this
 * machine answers, for the health checks of containers. The state of the store does not count: restarting
 * a container that still serves images does not repair the store.
 */

const withinMs = 4_000;

const { host, port, workerHost, workerPort } = settingsOrExit();

const url =
  process.argv[2] === 'worker'
    ? `${listenerUrl(workerHost, workerPort)}/health/live`
    : `${listenerUrl(host, port)}/api/health/live`;
const problem = await fetch(url, { signal: AbortSignal.timeout(withinMs) }).then(
  async (response) =>
    response.ok ? null : `answered ${response.status}: ${await response.text()}`,
  (error: unknown) => `does not answer: ${error instanceof Error ? error.message : error}`,
);
if (problem !== null) {
  process.stderr.write(`${url} ${problem}\n`);
  process.exitCode = 1;
}
