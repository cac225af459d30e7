import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../store/projects.ts';
import type { ProjectDay, UsageRecords } from '../../store/usage.ts';
import { noUsage, sumOfDay, type UsageTotals } from './usage-totals.ts';

/** The usage that limits apply to. */
interface LimitedUsage {
  readonly renders: number;
  readonly bytes: number;
}

/** The usage of a project and a day in all other processes. */
interface OtherUsage extends ProjectDay {
  used: Promise<LimitedUsage>;
  /** Whether a render has needed it since the last refresh. */
  isNeeded: boolean;
}

export interface UsageLimitsEnvironment {
  readonly records: Pick<UsageRecords, 'findDays'>;
  readonly available: () => boolean;
  readonly now: () => number;
}

const nothing: LimitedUsage = { renders: 0, bytes: 0 };
const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Enforces the limits of renders and bytes of a project and a day. They stop renders only: cached images are
 * delivered beyond them. The usage of other processes is at most a minute old; while the store is unavailable, the
 * last known one is used.
 */
export class UsageLimits {
  readonly #totals: UsageTotals;
  readonly #environment: UsageLimitsEnvironment;
  readonly #others = new Map<string, OtherUsage>();
  /** Renders in progress by project. */
  readonly #running = new Map<string, number>();

  constructor(totals: UsageTotals, environment: UsageLimitsEnvironment) {
    this.#totals = totals;
    this.#environment = environment;
  }

  /**
   * Resolves when a project may render, with a function for the end of the render.
   * @throws ServiceError usage_limit_reached
   */
  async admit({ _id: project, limits }: Pick<Project, '_id' | 'limits'>): Promise<() => void> {
    const { rendersPerDay = null, bytesPerDay = null } = limits ?? {};
    if (rendersPerDay === null && bytesPerDay === null) return () => {};
    const day = { project, date: this.#totals.today };
    const others = await this.#usedByOthers(day);
    const own = this.#totals.of(day)?.counts ?? noUsage();
    const running = this.#running.get(project) ?? 0;
    const renders = others.renders + own.renders + own.backgroundRenders + running;
    if (rendersPerDay !== null && renders >= rendersPerDay) {
      throw this.#reached(`${rendersPerDay} renders`);
    }
    if (bytesPerDay !== null && others.bytes + own.bytes >= bytesPerDay) {
      throw this.#reached(`${bytesPerDay} bytes`);
    }
    this.#running.set(project, running + 1);
    return () => {
      const left = (this.#running.get(project) ?? 1) - 1;
      if (left > 0) this.#running.set(project, left);
      else this.#running.delete(project);
    };
  }

  /** Reads the usage of other processes again, for the projects that have rendered since the last call. */
  async refresh(): Promise<void> {
    const { today } = this.#totals;
    const kept = [...this.#others].filter(([, one]) => one.isNeeded && one.date === today);
    this.#others.clear();
    for (const [project, one] of kept) this.#others.set(project, one);
    const found = await this.#read(kept.map(([, one]) => one));
    for (const [project, one] of kept) {
      one.used = Promise.resolve(found.get(project) ?? nothing);
      one.isNeeded = false;
    }
  }

  /** Discards the known usage of others: it lacks the totals of this process that `UsageTotals` has just removed. */
  forget(days: readonly ProjectDay[]): void {
    for (const { project } of days) this.#others.delete(project);
  }

  #usedByOthers(day: ProjectDay): Promise<LimitedUsage> {
    const known = this.#others.get(day.project);
    if (known?.date === day.date) {
      known.isNeeded = true;
      return known.used;
    }
    const used = this.#readOne(day);
    this.#others.set(day.project, { ...day, used, isNeeded: true });
    return used;
  }

  /** Without a response of the store, the limit applies to the renders of this process alone. */
  async #readOne(day: ProjectDay): Promise<LimitedUsage> {
    if (!this.#environment.available()) return nothing;
    const found = await this.#read([day]).catch(() => null);
    return found?.get(day.project) ?? nothing;
  }

  async #read(days: readonly ProjectDay[]): Promise<ReadonlyMap<string, LimitedUsage>> {
    const found = await this.#environment.records.findDays(days);
    return new Map(
      found.map((day) => {
        const own = this.#totals.of(day);
        const others = sumOfDay(day, own && { ...own, counts: noUsage() });
        const renders = others.renders + others.backgroundRenders;
        return [day.project, { renders, bytes: others.bytes }];
      }),
    );
  }

  #reached(limit: string): ServiceError {
    const now = this.#environment.now();
    const retryAfter = Math.ceil((dayMs - (now % dayMs)) / 1_000);
    const message = `The project has reached its limit of ${limit} for this day (UTC). Images that are cached are delivered.`;
    return new ServiceError('usage_limit_reached', message, undefined, { retryAfter });
  }
}
