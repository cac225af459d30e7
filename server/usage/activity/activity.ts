import { randomBytes } from 'node:crypto';
import type { ActivityRecords, StoredActivity } from '../../../store/activity.ts';
import type { RequestCounts } from '../request-counts.ts';
import type { RequestCounter } from './request-counter.ts';
import { ActivitySlice, type FailedRequest, type NameBudget } from './slice.ts';

const minuteMs = 60_000;

/** The windows of the figures, and their interval lengths. */
export const windows = {
  hour: { lengthMs: 60 * minuteMs, intervalMs: 10 * minuteMs },
  day: { lengthMs: 24 * 60 * minuteMs, intervalMs: 60 * minuteMs },
} as const;
export type WindowName = keyof typeof windows;
const windowNames = Object.keys(windows) as WindowName[];

const intervalStart = (name: WindowName, now: number): number =>
  now - (now % windows[name].intervalMs);

/** Returns the start of a window's first interval, Unix ms, up to an interval before the window. */
const windowStart = (name: WindowName, now: number): number =>
  intervalStart(name, now) - windows[name].lengthMs;

/** Maximum projects per window that a process counts. */
const maxProjects = 10_000;
/**
 * Maximum names and failures per process, over all projects and windows: about 8 MB of names, or
 * 18 MB of failures (29 MB if all texts have their maximum length).
 */
const maxNames = 20_000;
/** Number of responses after which their requests are collected. */
const maxListed = 1_000;

/** A project's interval. */
interface Interval {
  readonly project: string;
  readonly window: WindowName;
  readonly start: number;
  /** The process's field in the store. A clock change can restart an interval. */
  readonly writer: string;
  readonly slice: ActivitySlice;
}

interface ActivityEnvironment {
  readonly records: Pick<ActivityRecords, 'write' | 'find'>;
  /** Unix ms. */
  readonly now: () => number;
}

/** A project's interval parts, from all processes. */
export interface WindowActivity {
  /** Start of the first interval, Unix ms. */
  readonly start: number;
  readonly parts: readonly StoredActivity[];
}

/**
 * Request figures per project for the last hour and day. A process keeps the current intervals in
 * fixed memory, and stores each in its own field, like its usage.
 */
export class Activity {
  readonly #environment: ActivityEnvironment;
  readonly #prefix = `p${randomBytes(6).toString('hex')}x`;
  #writers = 0;
  readonly #budget: NameBudget;
  readonly #intervals: Readonly<Record<WindowName, Map<string, Interval>>> = {
    hour: new Map(),
    day: new Map(),
  };
  /** Ended intervals not yet stored. */
  #ended: Interval[] = [];
  #listed: RequestCounter[] = [];

  constructor(environment: ActivityEnvironment, names = maxNames) {
    this.#environment = environment;
    this.#budget = { left: names };
  }

  /** Counts a request, and the size of its response body. */
  delivered(subject: RequestCounter, bytes: number): void {
    subject.bytes += bytes;
    subject.requests += 1;
    if (subject.requests > 1) return;
    this.#listed.push(subject);
    if (this.#listed.length >= maxListed) this.collect();
  }

  countRequests(counts: RequestCounts): void {
    for (const { slice } of this.#of(counts.project)) slice.countRequests(counts);
  }

  countUnsigned(project: string, requests = 1): void {
    for (const { slice } of this.#of(project)) slice.countUnsigned(requests);
  }

  countMiss(project: string, ms: number): void {
    for (const { slice } of this.#of(project)) slice.countMiss(ms);
  }

  /** Failures are kept only per hour. */
  failed(project: string, failed: FailedRequest): void {
    const { now } = this.#environment;
    this.#getInterval('day', project)?.slice.addFailure(failed, now());
  }

  /** Adds the responses' requests to the current intervals. */
  collect(): void {
    const listed = this.#listed;
    this.#listed = [];
    for (const subject of listed) {
      const { project, source, variant, isSigned, originalRatio, requests, bytes } = subject;
      for (const { slice } of this.#of(project)) {
        slice.countNames(source, variant, requests);
        if (!isSigned) slice.countUnsigned(requests);
        if (originalRatio > 0) slice.countOriginals(bytes, bytes * originalRatio);
      }
      subject.requests = 0;
      subject.bytes = 0;
    }
  }

  /**
   * Stores the changed intervals.
   * @param inBatches calls a function with batches of them, and returns the errors
   */
  async store(inBatches: InBatches): Promise<unknown[]> {
    this.collect();
    for (const name of windowNames) this.#endBefore(name);
    const changed = this.#own().filter(({ slice }) => slice.isChanged);
    const errors = await inBatches(changed, (batch) => this.#write(batch));
    this.#restore(changed);
    for (const interval of this.#ended) if (!interval.slice.isChanged) this.#forget(interval);
    this.#ended = this.#ended.filter(({ slice }) => slice.isChanged);
    return errors;
  }

  /**
   * Returns the counts of all processes for a project, possibly excluding the last minute of other
   * processes.
   */
  async of(project: string): Promise<Readonly<Record<WindowName, WindowActivity>>> {
    this.collect();
    const now = this.#environment.now();
    const starts = { hour: windowStart('hour', now), day: windowStart('day', now) };
    // Before the read, because `store` can remove intervals that the read does not contain yet.
    const own = this.#own().filter((interval) => interval.project === project);
    const found = await this.#environment.records.find(project, starts.day);
    const writers = new Set(own.map(({ writer }) => writer));
    const toWindow = (name: WindowName): WindowActivity => {
      const start = starts[name];
      const isIn = (interval: Pick<Interval, 'start'> & { readonly window: string }) =>
        interval.window === name && interval.start >= start;
      const current = own.filter(isIn).map(({ slice }) => slice.stored());
      const stored = found
        .filter(isIn)
        .flatMap(({ by }) =>
          [...by].flatMap(([writer, part]) => (writers.has(writer) ? [] : part)),
        );
      return { start, parts: [...stored, ...current] };
    };
    return { hour: toWindow('hour'), day: toWindow('day') };
  }

  /** Numbers of projects, and of names and failures, in memory. */
  get size(): { readonly projects: number; readonly names: number } {
    const own = this.#own();
    return {
      projects: new Set(own.map(({ project }) => project)).size,
      names: own.reduce((sum, { slice }) => sum + slice.size, 0),
    };
  }

  #own(): readonly Interval[] {
    const current = windowNames.flatMap((name) => [...this.#intervals[name].values()]);
    return [...this.#ended, ...current];
  }

  #of(project: string): readonly Interval[] {
    return windowNames.flatMap((name) => this.#getInterval(name, project) ?? []);
  }

  /** Returns a project's current interval, or null if there are too many projects. */
  #getInterval(window: WindowName, project: string): Interval | null {
    const intervals = this.#intervals[window];
    const start = intervalStart(window, this.#environment.now());
    const known = intervals.get(project);
    if (known !== undefined && known.start === start) return known;
    this.#endBefore(window);
    if (intervals.size >= maxProjects) return null;
    this.#writers += 1;
    const writer = `${this.#prefix}${this.#writers.toString(36)}`;
    const interval = { project, window, start, writer, slice: new ActivitySlice(this.#budget) };
    intervals.set(project, interval);
    return interval;
  }

  /**
   * Ends the intervals before the current one. Drops those before the previous interval, stored or
   * not.
   */
  #endBefore(window: WindowName): void {
    const start = intervalStart(window, this.#environment.now());
    const intervals = this.#intervals[window];
    const [first] = intervals.values();
    if (first === undefined || first.start === start) return;
    const given = this.#ended.filter((interval) => interval.window === window);
    for (const interval of given) this.#forget(interval);
    this.#ended = this.#ended.filter((interval) => interval.window !== window);
    for (const interval of intervals.values()) {
      if (interval.slice.isChanged) this.#ended.push(interval);
      else this.#forget(interval);
    }
    intervals.clear();
  }

  /** Keeps intervals that `#endBefore` has dropped during their failing write. */
  #restore(written: readonly Interval[]): void {
    const own = new Set(this.#own());
    for (const interval of written) {
      if (!interval.slice.isChanged || own.has(interval)) continue;
      this.#ended.push(interval);
      this.#budget.left -= interval.slice.size;
    }
  }

  #forget({ slice }: Interval): void {
    this.#budget.left += slice.size;
  }

  async #write(batch: readonly Interval[]): Promise<void> {
    for (const { slice } of batch) slice.isChanged = false;
    try {
      await this.#environment.records.write(
        batch.map(({ project, window, start, writer, slice }) => ({
          project,
          window,
          start,
          writer,
          expiresAt: start + windows[window].lengthMs + windows[window].intervalMs,
          activity: slice.stored(),
        })),
      );
    } catch (error) {
      for (const { slice } of batch) slice.isChanged = true;
      throw error;
    }
  }
}

/** @see UsageRecorder */
type InBatches = <T>(
  items: readonly T[],
  write: (batch: readonly T[]) => Promise<void>,
) => Promise<unknown[]>;
