import { mean, percentile } from '../../bench/report.ts';
import type { Interval } from './load.ts';
import type { ProcessSample } from './processes.ts';

/** Returns the figures of an interval's requests. */
export const toFigures = (interval: Interval) => ({
  requests: interval.requests,
  /** Refused because the service has too much work. */
  overloaded: interval.overloaded,
  /** Share of delivered images that came from a cache, 0 to 1. */
  hitRate: interval.fromCache / (interval.fromCache + interval.missed),
  hitP50Ms: percentile(interval.hitMs, 0.5),
  hitP99Ms: percentile(interval.hitMs, 0.99),
  missP50Ms: percentile(interval.missMs, 0.5),
  missP99Ms: percentile(interval.missMs, 0.99),
});

/** State of the service, and the requests since the last sample. */
export interface Sample extends Readonly<ReturnType<typeof toFigures>> {
  /** Seconds since the load started. */
  readonly atS: number;
  readonly processes: readonly ProcessSample[];
  readonly memoryCacheBytes: number;
  readonly diskCacheBytes: number;
}

/** The mean memory of one process, or of all, in the middle and last third of the time. */
export interface Growth {
  readonly what: string;
  readonly middleBytes: number;
  readonly lastBytes: number;
  readonly flat: boolean;
}

/** The maximum relative difference between the thirds. */
const tolerance = 0.05;

/**
 * Returns growth figures for the sum of all processes, and for the primary and the front ends that
 * ran in both thirds. Transform processes are excluded: they have a separate limit, and can start
 * at any time.
 */
export function growths(samples: readonly Sample[]): Growth[] {
  const end = samples.at(-1)?.atS ?? 0;
  const middle = samples.filter(({ atS }) => atS >= end / 3 && atS < (end * 2) / 3);
  const last = samples.filter(({ atS }) => atS >= (end * 2) / 3);
  const judged = samples
    .flatMap(({ processes }) => processes)
    .filter(({ role }) => role === 'primary' || role === 'front end');
  const ids = [...new Set(judged.map(({ pid }) => pid))];
  const computeGrowth = (what: string, rss: (sample: Sample) => number | undefined) => {
    const [middleBytes, lastBytes] = [computeMean(middle.map(rss)), computeMean(last.map(rss))];
    const flat = Math.abs(lastBytes / middleBytes - 1) <= tolerance;
    return { what, middleBytes, lastBytes, flat };
  };
  const all = computeGrowth('all', ({ processes }) =>
    processes.reduce((bytes, { rssBytes }) => bytes + rssBytes, 0),
  );
  const each = ids.map((pid) => {
    const role = samples
      .flatMap(({ processes }) => processes)
      .find((member) => member.pid === pid)?.role;
    return computeGrowth(
      `${role} ${pid}`,
      ({ processes }) => processes.find((member) => member.pid === pid)?.rssBytes,
    );
  });
  const lasting = each.filter(({ middleBytes, lastBytes }) => middleBytes > 0 && lastBytes > 0);
  return [all, ...lasting];
}

/** Returns the number of all front ends minus the maximum at one time. */
export function replacedFrontEnds(samples: readonly Sample[]): number {
  const frontEnds = samples.map(({ processes }) =>
    processes.filter(({ role }) => role === 'front end').map(({ pid }) => pid),
  );
  const most = Math.max(0, ...frontEnds.map((ids) => ids.length));
  return new Set(frontEnds.flat()).size - most;
}

function computeMean(values: readonly (number | undefined)[]): number {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? 0 : mean(known);
}
