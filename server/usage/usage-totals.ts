import { randomBytes } from 'node:crypto';
import type { DayUsage, ProjectDay } from '../../store/usage.ts';
import {
  newTierCounts,
  type RequestCounts,
  requestKinds,
  type TierCounts,
  tiers,
} from './request-counts.ts';

/**
 * The stored counts of a project and a day: clients' requests by tier, and other counts. Those of
 * prewarming and of the console are background.
 */
const usageFields = [
  ...tiers,
  'bytes',
  'renders',
  'renderMs',
  'backgroundRequests',
  'backgroundRenders',
  'backgroundRenderMs',
  'backgroundBytes',
] as const;
export type UsageCounts = Record<(typeof usageFields)[number], number>;

const zero = Object.fromEntries(usageFields.map((field) => [field, 0])) as UsageCounts;
export const noUsage = (): UsageCounts => ({ ...zero });

/** Adds counts, in which fields can be missing. */
export function addUsage(sum: UsageCounts, counts: Readonly<Partial<UsageCounts>>): UsageCounts {
  for (const field of usageFields) sum[field] += counts[field] ?? 0;
  return sum;
}

/** Sums a day's counts over all writers. This process's totals replace its stored totals. */
export function sumOfDay({ by }: Pick<DayUsage, 'by'>, own: OwnTotals | undefined): UsageCounts {
  const sum = own === undefined ? noUsage() : { ...own.counts };
  for (const [writer, counts] of by) if (writer !== own?.writer) addUsage(sum, counts);
  return sum;
}

/** This process's totals for a project and a day. */
export interface OwnTotals extends ProjectDay {
  readonly writer: string;
  readonly counts: UsageCounts;
  /** The renders that the store shows as claimed. */
  claimed: number;
  /** Incremented by every change. */
  version: number;
  /** The stored version. */
  stored: number;
}

/** Requests by project id since the last report; '' for projects beyond the limit. */
export type ProjectCounts = ReadonlyMap<string, TierCounts>;

const maxReported = 2_000;
/** Above this number of totals in memory, stored totals are removed. */
const manyTotals = 20_000;
/** Maximum totals in memory, reached only while the store is unavailable for days. */
const maxTotals = 60_000;

export const dayMs = 24 * 60 * 60 * 1_000;
/** Returns the date (UTC) of a time in Unix ms. */
export const toDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const toKey = ({ project, date }: ProjectDay): string => `${project}/${date}`;

/**
 * The usage counted by this process. A request increments its project's counts; each second they
 * are added to the current day's totals.
 */
export class UsageTotals {
  readonly #now: () => number;
  readonly #totals = new Map<string, OwnTotals>();
  readonly #prefix = `p${randomBytes(6).toString('hex')}x`;
  #writers = 0;
  #listed: RequestCounts[] = [];
  #reported = new Map<string, TierCounts>();
  readonly #onCollect: (counts: RequestCounts) => void;
  /** Number of totals dropped because there were too many. */
  dropped = 0;

  /**
   * @param now returns Unix ms
   * @param onCollect called with each project's counts before they are cleared
   */
  constructor(now: () => number, onCollect: (counts: RequestCounts) => void = () => {}) {
    this.#now = now;
    this.#onCollect = onCollect;
  }

  get today(): string {
    return toDate(this.#now());
  }

  /** Call it before changing counts. */
  list(counts: RequestCounts): void {
    if (counts.isListed) return;
    counts.isListed = true;
    this.#listed.push(counts);
  }

  /** Requests by project since the last call. */
  takeReport(): ProjectCounts {
    this.collect();
    const reported = this.#reported;
    this.#reported = new Map();
    return reported;
  }

  /** Returns the latest totals of a project and a day, if any. */
  of(day: ProjectDay): OwnTotals | undefined {
    this.collect();
    return this.#totals.get(toKey(day));
  }

  /** Like `of`, but creates missing totals. */
  ofWriter(day: ProjectDay): OwnTotals {
    this.collect();
    return this.#getTotals(day);
  }

  /** The latest totals of all projects. */
  all(): readonly OwnTotals[] {
    this.collect();
    return [...this.#totals.values()];
  }

  /** Whether to remove stored totals. */
  get isFull(): boolean {
    return this.#totals.size > manyTotals;
  }

  /**
   * Removes and returns stored totals: those of earlier days, or all if there are too many. Later
   * counts of the same project and day get a new writer.
   */
  takeFinished(): readonly OwnTotals[] {
    const { today } = this;
    const all = this.isFull;
    const ended = this.all().filter(
      ({ date, stored, version }) => stored === version && (all || date < today),
    );
    for (const totals of ended) this.#totals.delete(toKey(totals));
    return ended;
  }

  collect(): void {
    const listed = this.#listed;
    if (listed.length === 0) return;
    this.#listed = [];
    const date = this.today;
    for (const counts of listed) {
      this.#report(counts);
      const totals = this.#getTotals({ project: counts.project, date });
      addCounts(totals.counts, counts);
      totals.version += 1;
      this.#onCollect(counts);
      counts.clear();
    }
  }

  #report(counts: RequestCounts): void {
    const { project } = counts;
    const known = this.#reported.has(project) || this.#reported.size < maxReported;
    const key = known ? project : '';
    const reported = this.#reported.get(key) ?? newTierCounts();
    this.#reported.set(key, reported);
    for (const kind of requestKinds) {
      for (const tier of tiers) reported[tier] += counts[kind].tiers[tier];
    }
  }

  #getTotals(day: ProjectDay): OwnTotals {
    const key = toKey(day);
    const known = this.#totals.get(key);
    if (known !== undefined) return known;
    if (this.#totals.size >= maxTotals) this.#dropOldest();
    this.#writers += 1;
    const writer = `${this.#prefix}${this.#writers.toString(36)}`;
    const state = { claimed: 0, version: 0, stored: 0 };
    const totals: OwnTotals = { ...day, writer, counts: noUsage(), ...state };
    this.#totals.set(key, totals);
    return totals;
  }

  #dropOldest(): void {
    const [oldest] = this.#totals.keys();
    this.#totals.delete(oldest ?? '');
    this.dropped += 1;
  }
}

function addCounts(sum: UsageCounts, { live, background, console }: RequestCounts): void {
  for (const tier of tiers) sum[tier] += live.tiers[tier];
  sum.bytes += live.bytes;
  sum.renders += live.renders;
  sum.renderMs += live.renderMs;
  for (const counts of [background, console]) {
    for (const tier of tiers) sum.backgroundRequests += counts.tiers[tier];
    sum.backgroundRenders += counts.renders;
    sum.backgroundRenderMs += counts.renderMs;
  }
  // Prewarming delivers to nobody.
  sum.backgroundBytes += console.bytes;
}
