import type { Logger } from '../../contract/log.ts';
import type { Connections } from './connection-limit.ts';

const everyMs = 60_000;

/**
 * Logs, at most once a minute, that connections were closed because too many are open. Call the returned function
 * every second.
 */
export function logClosedConnections(
  log: Pick<Logger, 'warn'>,
  now = () => performance.now(),
): (connections: Connections) => void {
  let [closedBefore, refusedBefore, loggedAt] = [0, 0, -everyMs];
  return ({ open, limit, closedWaiting, refused }) => {
    const since = { closedWaiting: closedWaiting - closedBefore, refused: refused - refusedBefore };
    if (since.closedWaiting + since.refused === 0 || now() - loggedAt < everyMs) return;
    [closedBefore, refusedBefore, loggedAt] = [closedWaiting, refused, now()];
    log.warn(
      { open, limit, ...since },
      'connections are closed, because too many are open for the limit of descriptors',
    );
  };
}
