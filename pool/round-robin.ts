/** A queue that takes items of several projects in turn. */
export class RoundRobin<T> {
  /** The waiting items of each project, oldest first. The first project is next. */
  readonly #waiting = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of a project's items. */
  countOf(project: string): number {
    return this.#waiting.get(project)?.size ?? 0;
  }

  add(project: string, item: T): void {
    const items = this.#waiting.get(project) ?? new Set();
    this.#waiting.set(project, items);
    items.add(item);
    this.#size += 1;
  }

  /** Adds an item before the first later one. A project without items comes last. */
  insert(project: string, item: T, isLater: (other: T) => boolean): void {
    const items = [...(this.#waiting.get(project) ?? [])];
    const later = items.findIndex(isLater);
    items.splice(later === -1 ? items.length : later, 0, item);
    this.#waiting.set(project, new Set(items));
    this.#size += 1;
  }

  delete(project: string, item: T): boolean {
    const items = this.#waiting.get(project);
    if (items === undefined || !items.delete(item)) return false;
    this.#size -= 1;
    if (items.size === 0) this.#waiting.delete(project);
    return true;
  }

  /** Removes and returns the next item that fits: the oldest of the first project that has one. */
  take(fits: (item: T, project: string) => boolean = () => true): T | undefined {
    for (const [project, items] of this.#waiting) {
      for (const item of items) {
        if (!fits(item, project)) continue;
        this.delete(project, item);
        // Moves a project with further items to the end.
        if (this.#waiting.delete(project)) this.#waiting.set(project, items);
        return item;
      }
    }
    return undefined;
  }

  /** The newest item of the project with the most items. */
  newestOfLongest(): T | undefined {
    let most: ReadonlySet<T> = new Set();
    for (const items of this.#waiting.values()) if (items.size > most.size) most = items;
    return [...most].at(-1);
  }

  /** The number of items of the project with the most. */
  get longest(): number {
    return Math.max(0, ...[...this.#waiting.values()].map(({ size }) => size));
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#waiting.values()) yield* items;
  }
}
