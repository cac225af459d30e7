import type { Logger } from '../../contract/log.ts';
import { createLogThrottle } from '../telemetry/log-limit.ts';
import type { Connections } from './connection-limit.ts';

const everyMs = 60_000;

/**
 * Logs, at most once a minute, that too many open connections caused closures. Call the returned
 * function every second.
 */
export function logClosedConnections(
  log: Pick<Logger, 'warn'>,
): (connections: Connections) => void {
  const mayLog = createLogThrottle(everyMs);
  let [closedBefore, refusedBefore] = [0, 0];
  return ({ open, limit, closedWaiting, refused }) => {
    const since = { closedWaiting: closedWaiting - closedBefore, refused: refused - refusedBefore };
    if (since.closedWaiting + since.refused === 0 || !mayLog()) return;
    [closedBefore, refusedBefore] = [closedWaiting, refused];
    log.warn(
      { open, limit, ...since },
      'closing connections: too many open for the descriptor limit',
    );
  };
}
