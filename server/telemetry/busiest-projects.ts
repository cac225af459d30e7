import type { MetricsSnapshot } from './registry.ts';
import { joinLabels } from './registry.ts';

export const tiers = ['none', 'memory', 'disk', 'miss'] as const;
/** The cache tier that an image came from; `none` for other responses. */
export type Tier = (typeof tiers)[number];

/** Image requests of one project, by tier. */
export type TierCounts = Record<Tier, number>;

/** Counts by project's id since the last report; '' for all beyond the limit. */
export type ProjectCounts = ReadonlyMap<string, TierCounts>;

const newCounts = (): TierCounts => ({ none: 0, memory: 0, disk: 0, miss: 0 });
/** Projects that one process counts between two reports. */
const mostCounted = 2_000;

/** Counts a process's requests by project, from one report to the next. */
export class ProjectCounter {
  #counts = new Map<string, TierCounts>();

  count(project: string, tier: Tier): void {
    const counts = this.#counts.get(project) ?? this.#add(project);
    counts[tier] += 1;
  }

  take(): ProjectCounts {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  #add(project: string): TierCounts {
    const key = this.#counts.size < mostCounted ? project : '';
    const counts = this.#counts.get(key) ?? newCounts();
    this.#counts.set(key, counts);
    return counts;
  }
}

interface Tracked {
  /** Requests, of which recent ones count more; at most too high, never too low. */
  score: number;
  /** Requests since the project has a series of its own; null while it has none. */
  counts: TierCounts | null;
}

const other = 'other';
/** Projects whose scores are known. */
const mostTracked = 1_000;
/** A project takes another's series only when it is this much busier, so that series last. */
const busier = 2;
/** Each minute the scores are reduced to this part. */
const decay = 0.8;

/**
 * Counts requests of the busiest projects apart, and those of all others together. The busiest are
 * found with bounded memory: a project that is not tracked takes the place of the one with the lowest
 * score, and its score (the space-saving algorithm of Metwally, Agrawal and El Abbadi, 2005).
 *
 * A project gets a series when it is among the busiest, which counts from then on; the series ends when
 * another is busier. So no series decreases while it lasts, `other` included.
 */
export class BusiestProjects {
  readonly #limit: number;
  readonly #tracked = new Map<string, Tracked>();
  readonly #other = newCounts();
  #named = 0;

  /** @param limit how many projects have a series of their own */
  constructor(limit = 100) {
    this.#limit = limit;
  }

  add(counts: ProjectCounts): void {
    for (const [project, added] of counts) {
      const tracked = project === '' ? null : this.#track(project);
      if (tracked !== null) tracked.score += tiers.reduce((sum, tier) => sum + added[tier], 0);
      const into = tracked?.counts ?? this.#other;
      for (const tier of tiers) into[tier] += added[tier];
    }
  }

  /** Chooses again which projects have a series of their own. To be called every minute. */
  choose(): void {
    const byScore = [...this.#tracked.values()].sort((a, b) => b.score - a.score);
    const named = byScore.filter(({ counts }) => counts !== null);
    for (const candidate of byScore) {
      const last = named.at(-1);
      if (candidate.counts !== null || last === undefined) continue;
      if (candidate.score <= busier * last.score) break;
      named.pop();
      last.counts = null;
      candidate.counts = newCounts();
    }
    for (const tracked of byScore) tracked.score *= decay;
  }

  snapshot(): MetricsSnapshot {
    const series: [string, TierCounts][] = [[other, this.#other]];
    for (const [id, { counts }] of this.#tracked) if (counts !== null) series.push([id, counts]);
    const values = series.flatMap(([id, counts]) =>
      tiers.map((tier) => [joinLabels([id, tier]), counts[tier]] as const),
    );
    return { projectRequests: Object.fromEntries(values) };
  }

  #track(project: string): Tracked {
    const known = this.#tracked.get(project);
    if (known !== undefined) return known;
    const score = this.#tracked.size < mostTracked ? 0 : this.#dropLowest();
    // The first ones need not wait to be chosen.
    const first = this.#named < this.#limit;
    if (first) this.#named += 1;
    const tracked = { score, counts: first ? newCounts() : null };
    this.#tracked.set(project, tracked);
    return tracked;
  }

  /** @returns the score of the project that is no longer tracked */
  #dropLowest(): number {
    let lowest = '';
    let score = Number.POSITIVE_INFINITY;
    for (const [project, tracked] of this.#tracked) {
      if (tracked.counts !== null || tracked.score >= score) continue;
      lowest = project;
      score = tracked.score;
    }
    this.#tracked.delete(lowest);
    return score;
  }
}
