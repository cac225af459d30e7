import { type ErrorCode, errorCatalogue } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';

export interface ImageFailure {
  readonly requestId: string;
  readonly project: string | null;
  readonly host: string | null;
  readonly stage: string;
  readonly code: ErrorCode;
  readonly cause: string;
}

/** Limit of lines: an origin that is down would fill the log. */
const linesPerSecond = 10;

/** 502 and 504 are errors of a source or its server. Other errors have log lines of their own. */
const isWarning = ({ code }: ImageFailure): boolean =>
  errorCatalogue[code].status === 502 || errorCatalogue[code].status === 504;

/**
 * Logs image requests that failed by an error of the service or of a source's server. Beyond a limit for
 * each second, only their number is logged.
 */
export function logFailures(log: Pick<Logger, 'info' | 'warn'>): (failure: ImageFailure) => void {
  let inSecond = 0;
  /** Of all failures in this second. */
  let highestLevel: 'info' | 'warn' = 'info';
  const endSecond = (): void => {
    const leftOut = inSecond - linesPerSecond;
    if (leftOut > 0) log[highestLevel]({ leftOut }, 'more images could not be delivered');
    inSecond = 0;
    highestLevel = 'info';
  };
  return (failure) => {
    if (inSecond === 0) setTimeout(endSecond, 1_000).unref();
    inSecond += 1;
    // A terminal shows warnings and errors only.
    const level = isWarning(failure) ? 'warn' : 'info';
    if (level === 'warn') highestLevel = level;
    if (inSecond <= linesPerSecond) log[level](failure, 'an image could not be delivered');
  };
}
