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

/** Limits the lines: an unavailable origin would fill the log. */
const linesPerSecond = 10;

/** 502 and 504 are errors of a source or its server. Other errors have separate log lines. */
const isWarning = ({ code }: ImageFailure): boolean =>
  errorCatalogue[code].status === 502 || errorCatalogue[code].status === 504;

/**
 * Logs image requests that fail because of the service or a source's server. Above a limit per
 * second, logs only their number.
 */
export function logFailures(log: Pick<Logger, 'info' | 'warn'>): (failure: ImageFailure) => void {
  let inSecond = 0;
  /** Highest level of this second's failures. */
  let highestLevel: 'info' | 'warn' = 'info';
  const endSecond = (): void => {
    const leftOut = inSecond - linesPerSecond;
    if (leftOut > 0) log[highestLevel]({ leftOut }, 'more image requests failed');
    inSecond = 0;
    highestLevel = 'info';
  };
  return (failure) => {
    if (inSecond === 0) setTimeout(endSecond, 1_000).unref();
    inSecond += 1;
    // A terminal shows only warnings and errors.
    const level = isWarning(failure) ? 'warn' : 'info';
    if (level === 'warn') highestLevel = level;
    if (inSecond <= linesPerSecond) log[level](failure, 'image request failed');
  };
}
