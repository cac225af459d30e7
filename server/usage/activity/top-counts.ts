import type { NameCount } from '../../../store/activity.ts';

/** Names that all of a process's counters can still add. */
export interface NameBudget {
  left: number;
}

interface Counted {
  count: number;
  /** Maximum part of the count that might belong to other names. */
  error: number;
}

/** Names per counter. */
const maxNames = 40;

/**
 * Counts the most frequent of any number of names in fixed memory, by the Space-Saving algorithm
 * (Metwally, Agrawal and El Abbadi, 2005): a new name replaces the name with the lowest count, and
 * inherits this count as its possible error.
 */
export class TopCounts {
  readonly #counted = new Map<string, Counted>();
  readonly #budget: NameBudget;

  constructor(budget: NameBudget) {
    this.#budget = budget;
  }

  add(name: string, count: number): void {
    const known = this.#counted.get(name);
    if (known !== undefined) {
      known.count += count;
    } else if (this.#counted.size < maxNames && this.#budget.left > 0) {
      this.#budget.left -= 1;
      this.#counted.set(name, { count, error: 0 });
    } else {
      this.#replaceLowest(name, count);
    }
  }

  /** Returns the names with their certain counts, highest first. */
  list(): readonly NameCount[] {
    return [...this.#counted]
      .map(([name, { count, error }]) => ({ name, count: count - error }))
      .sort((a, b) => b.count - a.count);
  }

  /** Number of names that use the budget. */
  get size(): number {
    return this.#counted.size;
  }

  #replaceLowest(name: string, count: number): void {
    let lowest: NameCount | null = null;
    for (const [known, { count }] of this.#counted) {
      if (lowest === null || count < lowest.count) lowest = { name: known, count };
    }
    if (lowest === null) return;
    this.#counted.delete(lowest.name);
    this.#counted.set(name, { count: lowest.count + count, error: lowest.count });
  }
}
