/** A project and its source's host, which own part of a limited quantity. */
export interface Owner {
  readonly project: string;
  /** The host with its port. */
  readonly host: string;
}

/** An owner's maximum, as a multiple of the free amount. */
const factor = 3;

/**
 * Divides a limited quantity among projects and hosts. An owner can hold at most three times the
 * amount that stays free (dynamic thresholds: Choudhury and Hahne, "Dynamic queue length thresholds
 * for shared-memory packet switches", 1998): alone three quarters, two owners three sevenths each.
 * Some always stays free, however many owners there are.
 *
 * A project that holds little can take any free amount: a host's limit protects other hosts, and
 * must not let a project use up another project's host.
 */
export class FairShare {
  readonly limit: number;
  readonly #guaranteed: number;
  // Only owners that hold something have entries.
  readonly #projects = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #held = 0;
  /** Total of refused calls of `take`. */
  rejected = 0;

  /** @param guaranteed amount that a project can hold regardless of its share, while it is free */
  constructor(limit: number, guaranteed: number) {
    this.limit = limit;
    this.#guaranteed = guaranteed;
  }

  get held(): number {
    return this.#held;
  }

  /** The number of projects and hosts that hold something. */
  get owners(): number {
    return this.#projects.size + this.#hosts.size;
  }

  /** Returns whether `take` would succeed. */
  allows({ project, host }: Owner, amount: number): boolean {
    const free = this.limit - this.#held - amount;
    if (free < 0) return false;
    const own = (this.#projects.get(project) ?? 0) + amount;
    if (own <= this.#guaranteed) return true;
    return own <= factor * free && (this.#hosts.get(host) ?? 0) + amount <= factor * free;
  }

  /** Takes an amount and returns true, or returns false when it exceeds the owner's share. */
  take(owner: Owner, amount: number): boolean {
    const allowed = this.allows(owner, amount);
    if (allowed) this.add(owner, amount);
    else this.rejected += 1;
    return allowed;
  }

  /** Counts an amount that is already held, even beyond the limit. */
  add({ project, host }: Owner, amount: number): void {
    this.#held += amount;
    changeCount(this.#projects, project, amount);
    changeCount(this.#hosts, host, amount);
  }

  release(owner: Owner, amount: number): void {
    this.add(owner, -amount);
  }
}

/** Changes an owner's amount; keeps no entry for 0. */
export function changeCount(held: Map<string, number>, owner: string, amount: number): void {
  const now = (held.get(owner) ?? 0) + amount;
  if (now === 0) held.delete(owner);
  else held.set(owner, now);
}

/** A queue that takes items of several projects in turn. */
export class RoundRobin<T> {
  /** Each project's waiting items, oldest first. The first project is next. */
  readonly #waiting = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countWaiting(project: string): number {
    return this.#waiting.get(project)?.size ?? 0;
  }

  add(project: string, item: T): void {
    const items = this.#waiting.get(project) ?? new Set();
    this.#waiting.set(project, items);
    items.add(item);
    this.#size += 1;
  }

  delete(project: string, item: T): boolean {
    const items = this.#waiting.get(project);
    if (items === undefined || !items.delete(item)) return false;
    this.#size -= 1;
    if (items.size === 0) this.#waiting.delete(project);
    return true;
  }

  /**
   * Removes and returns the next item that fits: the oldest in the first project with such an item.
   */
  take(fits: (item: T, project: string) => boolean = () => true): T | undefined {
    for (const [project, items] of this.#waiting) {
      for (const item of items) {
        if (!fits(item, project)) continue;
        this.delete(project, item);
        // Moves a project with more items to the end.
        if (this.#waiting.delete(project)) this.#waiting.set(project, items);
        return item;
      }
    }
    return undefined;
  }

  /** Returns the newest item of the project with the most items. */
  newestOfLongest(): T | undefined {
    let most: ReadonlySet<T> = new Set();
    for (const items of this.#waiting.values()) if (items.size > most.size) most = items;
    return [...most].at(-1);
  }

  /** The number of items in the longest project queue. */
  get longest(): number {
    return Math.max(0, ...[...this.#waiting.values()].map(({ size }) => size));
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#waiting.values()) yield* items;
  }
}
