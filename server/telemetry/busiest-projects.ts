import { LRUCache } from 'lru-cache';
import { newTierCounts, type TierCounts, tiers } from '../usage/request-counts.ts';
import type { ProjectCounts } from '../usage/usage-totals.ts';

interface Scored {
  /** Number of requests, reduced every minute so that recent requests count more. */
  score: number;
}

/** Maximum projects with a score but no series. */
const maxCandidates = 1_000;
/**
 * A candidate replaces a series only if its score is more than twice as high, so that few are
 * replaced.
 */
const replaceFactor = 2;
/** Applied to the scores each minute. */
const decay = 0.8;

/**
 * Counts requests of the busiest projects separately, and all other requests together. The other
 * projects' scores are in a bounded LRU: every report uses a busy project, so the LRU keeps it.
 *
 * A series starts at zero when its project gets it, and ends when a busier project replaces it.
 * Therefore no series decreases, including `other`.
 */
export class BusiestProjects {
  readonly #limit: number;
  readonly #series = new Map<string, Scored & { readonly counts: TierCounts }>();
  readonly #candidates = new LRUCache<string, Scored>({ max: maxCandidates });
  readonly #other = newTierCounts();

  /** @param limit number of projects with a series */
  constructor(limit = 100) {
    this.#limit = limit;
  }

  add(report: ProjectCounts): void {
    for (const [project, added] of report) {
      if (project !== '')
        this.#getScored(project).score += tiers.reduce((sum, t) => sum + added[t], 0);
      const counts = this.#series.get(project)?.counts ?? this.#other;
      for (const tier of tiers) counts[tier] += added[tier];
    }
  }

  /** Gives busier candidates the series of the least busy projects. Call it every minute. */
  reassign(): void {
    const series = [...this.#series].sort(([, a], [, b]) => b.score - a.score);
    const candidates = [...this.#candidates.entries()].sort(([, a], [, b]) => b.score - a.score);
    for (const [project, { score }] of candidates) {
      const [leastBusy, last] = series.pop() ?? [];
      if (leastBusy === undefined || last === undefined || score <= replaceFactor * last.score)
        break;
      this.#series.delete(leastBusy);
      this.#candidates.delete(project);
      this.#candidates.set(leastBusy, { score: last.score });
      this.#series.set(project, { score, counts: newTierCounts() });
    }
    for (const scored of [...this.#series.values(), ...this.#candidates.values()]) {
      scored.score *= decay;
    }
  }

  /** Returns the requests per busy project, and all others as `other`. */
  series(): readonly (readonly [project: string, counts: Readonly<TierCounts>])[] {
    const series = [...this.#series].map(([id, { counts }]) => [id, counts] as const);
    return [['other', this.#other], ...series];
  }

  /** The first projects get a series without being chosen. */
  #getScored(project: string): Scored {
    const known = this.#series.get(project) ?? this.#candidates.get(project);
    if (known !== undefined) return known;
    if (this.#series.size < this.#limit) {
      const series = { score: 0, counts: newTierCounts() };
      this.#series.set(project, series);
      return series;
    }
    const candidate = { score: 0 };
    this.#candidates.set(project, candidate);
    return candidate;
  }
}
