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
 * Logs image requests that failed by a fault of the service or of a source's server: at most some in
 * a second, and then how many were left out.
 */
export function logFailures(log: Pick<Logger, 'warn'>): (failure: ImageFailure) => void {
  let inSecond = 0;
  const endSecond = (): void => {
    const leftOut = inSecond - linesPerSecond;
    if (leftOut > 0) log.warn({ leftOut }, 'more images could not be delivered');
    inSecond = 0;
  };
  return (failure) => {
    if (inSecond === 0) setTimeout(endSecond, 1_000).unref();
    inSecond += 1;
    if (inSecond <= linesPerSecond) log.warn(failure, 'an image could not be delivered');
  };
}
