import { LRUCache } from 'lru-cache';
import { newTierCounts, type TierCounts, tiers } from '../usage/request-counts.ts';
import type { ProjectCounts } from '../usage/usage-totals.ts';

/** Maximum projects with a score. */
const maxScored = 1_000;
/** A project replaces a busy one only above this multiple of its score, so that few are replaced. */
const replaceFactor = 2;
/** Applied to the scores each minute. */
const decay = 0.8;

/**
 * Counts requests of the busiest projects separately, and all other requests together. A score is
 * the number of requests, reduced every minute so that recent requests count more. The scores are
 * in a bounded LRU: every report uses a busy project, so the LRU keeps it.
 *
 * A series starts at zero when its project gets it, and ends when a busier project replaces it.
 * Therefore no series decreases, including `other`.
 */
export class BusiestProjects {
  readonly #limit: number;
  readonly #series = new Map<string, TierCounts>();
  readonly #scores = new LRUCache<string, { value: number }>({ max: maxScored });
  readonly #other = newTierCounts();

  /** @param limit number of projects with a series */
  constructor(limit = 100) {
    this.#limit = limit;
  }

  add(report: ProjectCounts): void {
    for (const [project, added] of report) {
      if (project !== '') this.#score(project, added);
      const counts = this.#series.get(project) ?? this.#other;
      for (const tier of tiers) counts[tier] += added[tier];
    }
  }

  /** Gives busier projects the series of the least busy projects. Call it every minute. */
  reassign(): void {
    const getScore = (project: string): number => this.#scores.peek(project)?.value ?? 0;
    const byScore = (a: string, b: string): number => getScore(b) - getScore(a);
    const busy = [...this.#series.keys()].sort(byScore);
    const others = [...this.#scores.keys()].filter((project) => !this.#series.has(project));
    for (const project of others.sort(byScore)) {
      const leastBusy = busy.pop();
      if (leastBusy === undefined) break;
      if (getScore(project) <= replaceFactor * getScore(leastBusy)) break;
      this.#series.delete(leastBusy);
      this.#series.set(project, newTierCounts());
    }
    for (const score of this.#scores.values()) score.value *= decay;
  }

  /** Returns the requests per busy project, and all others as `other`. */
  series(): readonly (readonly [project: string, counts: Readonly<TierCounts>])[] {
    return [['other', this.#other], ...this.#series];
  }

  /** The first projects get a series without being chosen. */
  #score(project: string, added: TierCounts): void {
    const score = this.#scores.get(project) ?? { value: 0 };
    this.#scores.set(project, score);
    score.value += tiers.reduce((sum, tier) => sum + added[tier], 0);
    if (this.#series.has(project) || this.#series.size >= this.#limit) return;
    this.#series.set(project, newTierCounts());
  }
}
