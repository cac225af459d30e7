import { randomBytes } from 'node:crypto';
import type { ActivityRecords, StoredActivity } from '../../../store/activity.ts';
import { type RequestCounter, type RequestCounts, tiers } from '../request-counts.ts';
import { ActivitySlice, addDuration, type FailedRequest, type NameBudget } from './slice.ts';

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

/** Maximum intervals in memory, of all projects and windows. */
const maxIntervals = 20_000;
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
  /** The process's field in the store. An interval that leaves memory can start again. */
  readonly writer: string;
  readonly slice: ActivitySlice;
  /** Number of changes, and its value at the last store. */
  changes: number;
  stored: number;
}

/** A project's interval parts, from all processes. */
export interface WindowActivity {
  /** Start of the first interval, Unix ms. */
  readonly start: number;
  readonly parts: readonly StoredActivity[];
}

/**
 * Request figures per project for the last hour and day. A process keeps the current intervals in
 * fixed memory, and stores each in its own field, like its usage. Ended intervals stay in memory
 * until they are stored, for at most another interval.
 */
export class Activity {
  readonly #records: Pick<ActivityRecords, 'write' | 'find'>;
  readonly #now: () => number;
  readonly #prefix = `p${randomBytes(6).toString('hex')}x`;
  #writers = 0;
  readonly #budget: NameBudget;
  readonly #intervals = new Map<string, Interval>();
  /** The current interval's start by window. */
  readonly #starts = { hour: 0, day: 0 };
  #listed: RequestCounter[] = [];

  /** @param now returns Unix ms */
  constructor(
    records: Pick<ActivityRecords, 'write' | 'find'>,
    now: () => number,
    names = maxNames,
  ) {
    this.#records = records;
    this.#now = now;
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

  countRequests({ project, live }: RequestCounts): void {
    for (const { counts } of this.#change(project)) {
      for (const tier of tiers) counts[tier] += live.tiers[tier];
      counts.bytes += live.bytes;
    }
  }

  countUnsigned(project: string): void {
    for (const { counts } of this.#change(project)) counts.unsigned += 1;
  }

  countMiss(project: string, ms: number): void {
    for (const { durations } of this.#change(project)) addDuration(durations, ms);
  }

  /** Failures are kept only per hour. */
  failed(project: string, failed: FailedRequest): void {
    for (const slice of this.#change(project, ['day'])) {
      slice.failures.add(failed, this.#now());
    }
  }

  /** Adds the responses' requests to the current intervals. */
  collect(): void {
    const listed = this.#listed;
    this.#listed = [];
    for (const subject of listed) {
      const { project, source, variant, isSigned, originalRatio, requests, bytes } = subject;
      for (const { counts, sources, variants } of this.#change(project)) {
        sources.add(source, requests);
        variants.add(variant, requests);
        if (!isSigned) counts.unsigned += requests;
        if (originalRatio > 0) {
          counts.comparedBytes += bytes;
          counts.originalBytes += bytes * originalRatio;
        }
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
    const changed = [...this.#intervals.values()].filter(
      ({ changes, stored }) => changes !== stored,
    );
    const errors = await inBatches(changed, (batch) => this.#write(batch));
    this.#forgetEnded();
    return errors;
  }

  /**
   * Returns the counts of all processes for a project, possibly excluding the last minute of other
   * processes.
   */
  async of(project: string): Promise<Readonly<Record<WindowName, WindowActivity>>> {
    this.collect();
    const now = this.#now();
    // Before the read, because `store` can remove intervals that the read does not contain yet.
    const own = [...this.#intervals.values()].filter((interval) => interval.project === project);
    const found = await this.#records.find(project, windowStart('day', now));
    const writers = new Set(own.map(({ writer }) => writer));
    const toWindow = (name: WindowName): WindowActivity => {
      const start = windowStart(name, now);
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
    const own = [...this.#intervals.values()];
    return {
      projects: new Set(own.map(({ project }) => project)).size,
      names: own.reduce((sum, { slice }) => sum + slice.size, 0),
    };
  }

  /** Returns a project's current slices, to be changed; fewer if there are too many projects. */
  #change(project: string, names: readonly WindowName[] = windowNames): readonly ActivitySlice[] {
    return names.flatMap((window) => {
      const interval = this.#getInterval(window, project);
      if (interval === null) return [];
      interval.changes += 1;
      return interval.slice;
    });
  }

  #getInterval(window: WindowName, project: string): Interval | null {
    const start = intervalStart(window, this.#now());
    if (this.#starts[window] !== start) this.#forgetEnded();
    this.#starts[window] = start;
    const key = `${window}/${start}/${project}`;
    const known = this.#intervals.get(key);
    if (known !== undefined) return known;
    if (this.#intervals.size >= maxIntervals) return null;
    this.#writers += 1;
    const writer = `${this.#prefix}${this.#writers.toString(36)}`;
    const slice = new ActivitySlice(this.#budget);
    const interval = { project, window, start, writer, slice, changes: 0, stored: 0 };
    this.#intervals.set(key, interval);
    return interval;
  }

  /** Drops stored intervals that are not current, and those before the previous interval. */
  #forgetEnded(): void {
    const now = this.#now();
    for (const [key, { window, start, slice, changes, stored }] of this.#intervals) {
      const current = intervalStart(window, now);
      const isStored = start !== current && changes === stored;
      if (!isStored && start >= current - windows[window].intervalMs) continue;
      this.#intervals.delete(key);
      this.#budget.left += slice.size;
    }
  }

  async #write(batch: readonly Interval[]): Promise<void> {
    const changes = batch.map((interval) => interval.changes);
    await this.#records.write(
      batch.map(({ project, window, start, writer, slice }) => ({
        project,
        window,
        start,
        writer,
        expiresAt: start + windows[window].lengthMs + windows[window].intervalMs,
        activity: slice.stored(),
      })),
    );
    for (const [index, interval] of batch.entries()) interval.stored = changes[index] ?? 0;
  }
}

/** @see UsageRecorder */
type InBatches = <T>(
  items: readonly T[],
  write: (batch: readonly T[]) => Promise<void>,
) => Promise<unknown[]>;
