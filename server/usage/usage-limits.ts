import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../store/projects.ts';
import type { DayUsage, ProjectDay, UsageRecords } from '../../store/usage.ts';
import { addUsage, dayMs, noUsage, type UsageTotals } from './usage-totals.ts';

interface LimitedUsage {
  readonly renders: number;
  readonly bytes: number;
}

/** This process's view of a project and a day. */
interface KnownUsage extends ProjectDay {
  others: LimitedUsage;
  /**
   * Renders to start before this process claims its renders and rereads the other processes'
   * renders.
   */
  left: number;
  /** The claim in progress. */
  claiming: Promise<void> | null;
  /** Whether a render has needed it since the last refresh, or a claim has failed. */
  isNeeded: boolean;
}

interface UsageLimitsEnvironment {
  readonly records: Pick<UsageRecords, 'claim'>;
  readonly available: () => boolean;
  readonly now: () => number;
}

const nothing: LimitedUsage = { renders: 0, bytes: 0 };

/**
 * Returns how many renders a process can start without a claim. Each process can exceed a limit by
 * this number.
 */
const claimFree = (limit: number | null): number =>
  limit === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limit / 100));

/**
 * Enforces a project's daily limits on renders and bytes. They stop only renders: cached images are
 * still delivered. Before a process has used up its share of renders, it claims them in the store,
 * and reads the other processes' claims. Bytes of other processes are at most a minute old. While
 * the store is unavailable, the last known usage applies.
 */
export class UsageLimits {
  readonly #totals: UsageTotals;
  readonly #environment: UsageLimitsEnvironment;
  readonly #known = new Map<string, KnownUsage>();
  /** Renders in progress by project. */
  readonly #running = new Map<string, number>();

  constructor(totals: UsageTotals, environment: UsageLimitsEnvironment) {
    this.#totals = totals;
    this.#environment = environment;
  }

  /**
   * Resolves when a project can render, with a function to call when the render ends.
   * @throws ServiceError usage_limit_reached
   */
  async admit({ _id: project, limits }: Pick<Project, '_id' | 'limits'>): Promise<() => void> {
    const { rendersPerDay = null, bytesPerDay = null } = limits ?? {};
    if (rendersPerDay === null && bytesPerDay === null) return () => {};
    const share = claimFree(rendersPerDay);
    const known = this.#getKnown({ project, date: this.#totals.today });
    known.isNeeded = true;
    for (;;) {
      // Only failed renders decrease counts, so claims are unnecessary above a limit.
      const { bytes, backgroundBytes } = this.#totals.of(known)?.counts ?? noUsage();
      if (
        rendersPerDay !== null &&
        known.others.renders + this.#ownRenders(known) >= rendersPerDay
      ) {
        throw this.#reached(`${rendersPerDay} renders`);
      }
      if (bytesPerDay !== null && known.others.bytes + bytes + backgroundBytes >= bytesPerDay) {
        throw this.#reached(`${bytesPerDay} bytes`);
      }
      // The limit might have changed since the last claim.
      known.left = Math.min(known.left, share);
      if (known.left > 0) break;
      await (known.claiming ?? this.#claim(known, share));
    }
    known.left -= 1;
    this.#running.set(project, (this.#running.get(project) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(project) ?? 1) - 1;
      if (left > 0) this.#running.set(project, left);
      else this.#running.delete(project);
    };
  }

  /**
   * Claims again for projects that have rendered since the last call, and for those that claim more
   * than they have rendered.
   */
  async refresh(): Promise<void> {
    for (const [project, known] of this.#known) {
      const claimed = this.#totals.of(known)?.claimed ?? 0;
      // Renders without a result, such as those with a failed source.
      const isTooMuch = claimed > this.#ownRenders(known);
      if (known.date !== this.#totals.today || !(known.isNeeded || isTooMuch)) {
        this.#known.delete(project);
        continue;
      }
      known.isNeeded = false;
      await (known.claiming ?? this.#claim(known, 0));
    }
  }

  /**
   * Discards other processes' known usage: it lacks this process's totals, which `UsageTotals` has
   * just removed.
   */
  forget(days: readonly ProjectDay[]): void {
    for (const { project } of days) this.#known.delete(project);
  }

  #getKnown(day: ProjectDay): KnownUsage {
    const known = this.#known.get(day.project);
    if (known?.date === day.date) return known;
    const fresh = { ...day, others: nothing, left: 0, claiming: null, isNeeded: true };
    this.#known.set(day.project, fresh);
    return fresh;
  }

  #ownRenders(day: ProjectDay): number {
    const { renders, backgroundRenders } = this.#totals.of(day)?.counts ?? noUsage();
    return renders + backgroundRenders + (this.#running.get(day.project) ?? 0);
  }

  /** @param left renders that can start without another claim after this one */
  #claim(known: KnownUsage, left: number): Promise<void> {
    known.claiming = this.#exchange(known).finally(() => {
      known.left = Math.max(known.left, left);
      known.claiming = null;
    });
    return known.claiming;
  }

  /**
   * Writes this process's claim, and reads the other processes' usage. Never rejects: if the store
   * does not respond, their last known usage applies, and the next call tries again.
   */
  async #exchange(known: KnownUsage): Promise<void> {
    if (!this.#environment.available()) return;
    const { project, date } = known;
    const own = this.#totals.ofWriter({ project, date });
    own.claimed = this.#ownRenders(known);
    const { writer, claimed } = own;
    try {
      const day = await this.#environment.records.claim({ project, date, writer }, claimed);
      known.others = this.#countOthers(day);
    } catch {
      known.isNeeded = true;
    }
  }

  #countOthers(day: DayUsage): LimitedUsage {
    const own = this.#totals.of(day);
    const sum = { ...nothing };
    for (const writer of new Set([...day.by.keys(), ...day.claims.keys()])) {
      if (writer === own?.writer) continue;
      const counts = addUsage(noUsage(), day.by.get(writer) ?? {});
      const renders = counts.renders + counts.backgroundRenders;
      sum.renders += Math.max(renders, day.claims.get(writer) ?? 0);
      sum.bytes += counts.bytes + counts.backgroundBytes;
    }
    return sum;
  }

  #reached(limit: string): ServiceError {
    const now = this.#environment.now();
    const retryAfter = Math.ceil((dayMs - (now % dayMs)) / 1_000);
    const message = `The project has reached today's limit of ${limit} (UTC). Cached images are still delivered.`;
    return new ServiceError('usage_limit_reached', message, undefined, { retryAfter });
  }
}
