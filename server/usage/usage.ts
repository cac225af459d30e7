import type { ActivityRecords } from '../../store/activity.ts';
import type { UsageRecords } from '../../store/usage.ts';
import { Activity, type WindowActivity, type WindowName } from './activity/activity.ts';
import { UsageLimits } from './usage-limits.ts';
import {
  dayMs,
  type OwnTotals,
  sumOfDay,
  toDate,
  type UsageCounts,
  UsageTotals,
} from './usage-totals.ts';

/** A killed process loses at most this interval's counts. */
const storeEveryMs = 60_000;
/** Projects per store command. */
const batchLength = 100;

interface UsageEnvironment {
  readonly records: Pick<UsageRecords, 'write' | 'claim' | 'find'>;
  readonly activity: Pick<ActivityRecords, 'write' | 'find'>;
  /** False while the store is considered unavailable. */
  readonly available: () => boolean;
  /** Called if the counts cannot be stored, with the number of dropped projects and days. */
  readonly onFailure: (error: unknown, dropped: number) => void;
  /** Unix ms. */
  readonly now: () => number;
}

export interface UsageOfDay {
  readonly date: string;
  readonly counts: UsageCounts;
}

/** Counts the projects' usage in this process, stores it, and reads the sums over all processes. */
export class UsageRecorder {
  readonly totals: UsageTotals;
  readonly limits: UsageLimits;
  readonly activity: Activity;
  readonly #environment: UsageEnvironment;
  #timer: NodeJS.Timeout | null = null;
  #storing: Promise<void> | null = null;

  constructor(environment: UsageEnvironment) {
    this.#environment = environment;
    const { activity, now } = environment;
    this.activity = new Activity(activity, now);
    this.totals = new UsageTotals(now, (counts) => this.activity.countRequests(counts));
    this.limits = new UsageLimits(this.totals, environment);
  }

  /**
   * Starts storing the counts each minute. The first delay is random, so that processes do not
   * write at once.
   */
  start(): void {
    const storeIn = (ms: number): void => {
      this.#timer = setTimeout(() => {
        storeIn(storeEveryMs);
        void this.store();
      }, ms).unref();
    };
    storeIn(Math.random() * storeEveryMs);
  }

  /** Stores the last counts. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#storing;
    await this.store();
  }

  /**
   * Stores the changed counts, and reads the sums of projects with limits. Never rejects: a later
   * call stores counts that fail now.
   */
  store(): Promise<void> {
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null;
    });
    return this.#storing;
  }

  async #store(): Promise<void> {
    const { available, onFailure } = this.#environment;
    if (!available()) return;
    const { totals } = this;
    const changed = totals.all().filter(({ stored, version }) => stored !== version);
    const failures = await this.#inBatches(changed, (batch) => this.#write(batch));
    this.limits.forget(totals.takeFinished());
    failures.push(
      ...(await this.activity.store((intervals, write) => this.#inBatches(intervals, write))),
    );
    await this.limits.refresh();
    if (failures.length === 0) return;
    onFailure(failures[0], totals.dropped);
    totals.dropped = 0;
  }

  /**
   * Writes batches in sequence while the store is available, so that other store requests need not
   * wait.
   * @returns the errors of failed batches
   */
  async #inBatches<T>(
    items: readonly T[],
    write: (batch: readonly T[]) => Promise<void>,
  ): Promise<unknown[]> {
    const { available } = this.#environment;
    const errors: unknown[] = [];
    for (let from = 0; from < items.length && available(); from += batchLength) {
      const batch = items.slice(from, from + batchLength);
      await write(batch).catch((error: unknown) => errors.push(error));
    }
    return errors;
  }

  async #write(batch: readonly OwnTotals[]): Promise<void> {
    const versions = batch.map(({ version }) => version);
    await this.#environment.records.write(batch);
    for (const [index, totals] of batch.entries()) totals.stored = versions[index] ?? 0;
  }

  /** Returns a project's request figures for the last hour and day, over all processes. */
  windows(project: string): Promise<Readonly<Record<WindowName, WindowActivity>>> {
    this.totals.collect();
    return this.activity.of(project);
  }

  /**
   * Returns a project's usage per day, including both dates, but possibly not the last minute of
   * other processes.
   */
  async days(project: string, from: string, to: string): Promise<UsageOfDay[]> {
    const dates: string[] = [];
    for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) dates.push(toDate(at));
    // Before the read, because `store` can remove totals that the read does not contain yet.
    const own = dates.map((date) => this.totals.of({ project, date }));
    const found = await this.#environment.records.find(project, from, to);
    const stored = new Map(found.map(({ date, by }) => [date, by]));
    return dates.map((date, index) => ({
      date,
      counts: sumOfDay({ by: stored.get(date) ?? new Map() }, own[index]),
    }));
  }
}
