import type { Logger } from 'pino';
import { type ErrorCode, errorCatalogue, type ServiceError } from '../../contract/errors.ts';
import { createLogThrottle } from '../../contract/log-limit.ts';
import type { OnSharedCacheChange } from '../../pool/cache/shared-cache.ts';
import type { Layer } from '../../pool/variant.ts';

/** The log lines of events in a front end, limited if requests cause them. */

/** Interval of the lines about layers of a project, and about connections. */
const everyMs = 60_000;

export interface ImageFailure {
  readonly requestId: string;
  /** As requested; might not exist. */
  readonly project: string | null;
  readonly host: string | null;
  readonly stage: string;
  readonly code: ErrorCode;
  /** The message, without secrets. */
  readonly cause: string;
}

/** Limits the lines: an unavailable origin would fill the log. */
const linesPerSecond = 10;

/** 502 and 504 are errors of a source or its server. Other errors have separate log lines. */
const isWarning = ({ code }: ImageFailure): boolean =>
  [502, 504].includes(errorCatalogue[code].status);

/**
 * Logs failed image requests. Above a limit per second and level, logs only their number, so that
 * mistakes of clients do not hide failures of sources.
 */
export function logFailures(log: Pick<Logger, 'info' | 'warn'>): (failure: ImageFailure) => void {
  // A terminal shows only warnings and errors.
  const [warn, info] = [limitLines(log, 'warn'), limitLines(log, 'info')];
  return (failure) => (isWarning(failure) ? warn : info)(failure);
}

function limitLines<L extends 'info' | 'warn'>(
  log: Pick<Logger, L>,
  level: L,
): (failure: ImageFailure) => void {
  let inSecond = 0;
  const endSecond = (): void => {
    const leftOut = inSecond - linesPerSecond;
    if (leftOut > 0) log[level]({ leftOut }, 'more image requests failed');
    inSecond = 0;
  };
  return (failure) => {
    if (inSecond === 0) setTimeout(endSecond, 1_000).unref();
    inSecond += 1;
    if (inSecond <= linesPerSecond) log[level](failure, 'image request failed');
  };
}

/** Called when the service leaves a failed layer out of an image. */
export type OnLayerFailure = (projectId: string, layer: Layer, error: ServiceError) => void;

const maxProjects = 10_000;

/**
 * Logs images that lack a layer, at most once a minute per project. Leaves out their URLs,
 * which might contain signatures.
 *
 * @param now as in `createLogThrottle`
 */
export function logLayerFailures(log: Pick<Logger, 'warn'>, now?: () => number): OnLayerFailure {
  const mayLog = createLogThrottle(everyMs, maxProjects, now);
  return (project, layer, { code, message }) => {
    if (!mayLog(project)) return;
    const isWatermark = layer.kind === 'image' && layer.isWatermark;
    const missing = isWatermark ? 'watermark' : 'layer';
    log.warn({ project, code, reason: message }, `delivering images without ${missing}`);
  };
}

/** @see ClientConnections */
type ConnectionCounts = Readonly<Record<'open' | 'limit' | 'closedWaiting' | 'refused', number>>;

/**
 * Logs, at most once a minute, that too many open connections caused closures. Call the returned
 * function every second.
 */
export function logClosedConnections(
  log: Pick<Logger, 'warn'>,
): (counts: ConnectionCounts) => void {
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

/** Logs one line when the shared cache stops trying an operation, and one when it works again. */
export function logSharedCache(log: Pick<Logger, 'info' | 'warn'>): OnSharedCacheChange {
  return (operation, error) => {
    if (error === null) log.info(`shared cache ${operation}s resumed`);
    // Log only the message: other properties of undici errors might contain headers.
    else log.warn({ cause: error.message }, `shared cache failing; ${operation}s suspended`);
  };
}
