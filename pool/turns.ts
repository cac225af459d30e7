/** What waits, of several projects, which take turns (round robin). */
export class Turns<T> {
  /** The waiting items of each project, oldest first; the project whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(project: string): number {
    return this.#waiting.get(project)?.size ?? 0;
  }

  add(project: string, item: T): void {
    const items = this.#waiting.get(project) ?? new Set();
    this.#waiting.set(project, items);
    items.add(item);
    this.#size += 1;
  }

  /**
   * Undoes a `take`: the project has its turn again, and the item its place before those that came
   * later.
   */
  putBack(project: string, item: T, isLater: (other: T) => boolean): void {
    const others = [...(this.#waiting.get(project) ?? [])];
    const found = others.findIndex(isLater);
    const place = found === -1 ? others.length : found;
    const rest = [...this.#waiting].filter(([name]) => name !== project);
    this.#waiting.clear();
    this.#waiting.set(project, new Set([...others.slice(0, place), item, ...others.slice(place)]));
    for (const [name, items] of rest) this.#waiting.set(name, items);
    this.#size += 1;
  }

  delete(project: string, item: T): boolean {
    const items = this.#waiting.get(project);
    if (items === undefined || !items.delete(item)) return false;
    this.#size -= 1;
    if (items.size === 0) this.#waiting.delete(project);
    return true;
  }

  /** Removes and returns the next item in turn that fits, of each project its oldest that fits. */
  take(fits: (item: T, project: string) => boolean = () => true): T | undefined {
    for (const [project, items] of this.#waiting) {
      for (const item of items) {
        if (!fits(item, project)) continue;
        this.delete(project, item);
        // To the end of the order, if more of its items wait.
        if (this.#waiting.delete(project)) this.#waiting.set(project, items);
        return item;
      }
    }
    return undefined;
  }

  /** The newest item of the project with the most items. */
  last(): T | undefined {
    let most: ReadonlySet<T> = new Set();
    for (const items of this.#waiting.values()) if (items.size > most.size) most = items;
    return [...most].at(-1);
  }

  /** The number of items of the project with the most. */
  get most(): number {
    return Math.max(0, ...[...this.#waiting.values()].map(({ size }) => size));
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#waiting.values()) yield* items;
  }
}
