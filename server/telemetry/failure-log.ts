import type { Logger } from '../../contract/log.ts';

export interface ImageFailure {
  readonly requestId: string;
  readonly project: string | null;
  readonly host: string | null;
  readonly stage: string;
  readonly code: string;
  readonly cause: string;
}

/** Lines in one second; an origin that is down would fill the log with the same one. */
const linesPerSecond = 10;

/**
 * Logs image requests that failed by a fault of the service or of a source's server, at most some in a
 * second; the next line says how many were left out.
 *
 * @param now clock in ms
 */
export function logFailures(
  log: Pick<Logger, 'info'>,
  now: () => number = () => performance.now(),
): (failure: ImageFailure) => void {
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  return (failure) => {
    if (now() - second >= 1_000) {
      second = now();
      lines = 0;
    }
    lines += 1;
    if (lines > linesPerSecond) {
      leftOut += 1;
      return;
    }
    const more = leftOut === 0 ? {} : { leftOut };
    leftOut = 0;
    log.info({ ...failure, ...more }, 'an image could not be delivered');
  };
}
