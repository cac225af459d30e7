/** Who holds a part of something limited: a project, and the host that its source is on. */
export interface Owner {
  readonly project: string;
  /** With its port. */
  readonly host: string;
}

/** The most that one owner may hold, as a multiple of what then stays free. */
const factor = 3;

/**
 * Divides a limited quantity among projects and hosts, so that none can take all of it. An owner may
 * hold at most three times of what stays free (dynamic thresholds: Choudhury and Hahne, "Dynamic
 * queue length thresholds for shared-memory packet switches", 1998): alone three quarters, two
 * owners three sevenths each. Some always stays free, however many owners there are.
 *
 * A project that holds little may always take what is free: the bound of a host protects other
 * hosts, and must not let one project use up the host of another.
 */
export class FairShare {
  readonly limit: number;
  readonly #guaranteed: number;
  // Only owners that hold something, so there are at most as many entries as things that are held.
  readonly #projects = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #held = 0;

  /** @param guaranteed what a project may hold regardless of its share, while there is enough */
  constructor(limit: number, guaranteed: number) {
    this.limit = limit;
    this.#guaranteed = guaranteed;
  }

  get held(): number {
    return this.#held;
  }

  /** Owners that hold something now. */
  get owners(): number {
    return this.#projects.size + this.#hosts.size;
  }

  /** Whether `take` would succeed. */
  allows({ project, host }: Owner, amount: number): boolean {
    const free = this.limit - this.#held - amount;
    if (free < 0) return false;
    const own = (this.#projects.get(project) ?? 0) + amount;
    if (own <= this.#guaranteed) return true;
    return own <= factor * free && (this.#hosts.get(host) ?? 0) + amount <= factor * free;
  }

  /** Takes an amount and returns true, or returns false when it is beyond the owner's share. */
  take(owner: Owner, amount: number): boolean {
    if (!this.allows(owner, amount)) return false;
    this.add(owner, amount);
    return true;
  }

  /** Counts what is held already, even beyond the limit. */
  add({ project, host }: Owner, amount: number): void {
    this.#held += amount;
    change(this.#projects, project, amount);
    change(this.#hosts, host, amount);
  }

  /** Gives back what the same owner has taken. */
  release(owner: Owner, amount: number): void {
    this.add(owner, -amount);
  }
}

function change(held: Map<string, number>, owner: string, amount: number): void {
  const now = (held.get(owner) ?? 0) + amount;
  if (now === 0) held.delete(owner);
  else held.set(owner, now);
}
