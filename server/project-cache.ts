import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { isProjectId } from '../store/identifiers.ts';
import { isOutage, StoreUnavailable } from '../store/outage.ts';
import type { ProjectChanges } from '../store/project-changes.ts';
import type { Project, Projects } from '../store/projects.ts';
import { BatchedReads } from './batched-reads.ts';
import { type ProjectEvents, type ProjectState, ProjectStates } from './project-states.ts';
import { storeUnavailable } from './store-failure.ts';

/** Limit of look-ups that wait for the store, against requests with random ids. */
const maxLookups = 256;
/** Projects that each poll compares with the store in addition to changed ones. */
const comparedPerPoll = 100;
const loadedAtOnce = 100;
/**
 * What a process knows is as old as the beginning of the read that told it. Less than the two seconds after which a
 * purge must be in effect.
 */
const confirmedForMs = 1_900;
/** A project in use is compared before that. Polls of a store that answers soon confirm all projects earlier. */
const renewAfterMs = 1_200;

interface ProjectCacheEnvironment extends ProjectEvents {
  readonly pollEveryMs: number;
  /** Time limit for serving projects while the store is unavailable. */
  readonly maxAgeMs: number;
  /** Called with an error when polling begins to fail, and with null when it works again. */
  readonly onOutage: (error: unknown | null) => void;
}

/** A deleted project is known for a day, so that every process learns of it as of other changes. */
const unlessDeleted = (state: ProjectState): ProjectState | null =>
  state.project.deletedAt == null ? state : null;

interface Comparison {
  readonly changed: ReadonlySet<string>;
  readonly loaded: Promise<void>;
}

/**
 * The known projects of one process. A project is loaded for its first request, and updated by polling the
 * store for changes, or at once when this or another process reports a change. While the store is
 * unavailable, known projects are still served.
 *
 * Otherwise a project is served only if it was current less than two seconds ago. A poll confirms all projects. While
 * polls take too long, because the store is slow or this process was suspended, requests wait until the revision of
 * their own project is read.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #changes: ProjectChanges;
  readonly #states: ProjectStates;
  readonly #lookups = new SingleFlight<string, ProjectState | null>();
  /** Number of loads in progress by id. */
  readonly #loading = new Map<string, number>();
  /** Ids that remain to be compared in this round. */
  #round: string[] = [];
  /** The time at which the known projects were last known to be current, Unix ms. */
  #confirmedAt = 0;
  /** The time at which the last successful poll began, as `performance.now`. */
  #polledAt = Number.NEGATIVE_INFINITY;
  #polling: Promise<void> | null = null;
  /** The comparisons of single projects, by id. */
  readonly #confirming = new SingleFlight<string, void>();
  readonly #comparisons = new BatchedReads((ids) => this.#compare(ids));
  #isStoreDown = false;
  /** When the first failure since the last answered read was noticed, as `performance.now`; null for none. */
  #failedAt: number | null = null;
  #reported = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
    this.#changes = projects.followChanges();
    this.#states = new ProjectStates(environment);
  }

  /** The store is known to be unavailable. */
  get isStoreDown(): boolean {
    return this.#isStoreDown;
  }

  /**
   * `slow`: polls take too long, so that requests wait for the comparison of their project. `unavailable`: projects
   * are served as they were last confirmed.
   */
  get status(): 'ok' | 'slow' | 'unavailable' {
    if (this.#isStoreDown) return 'unavailable';
    return performance.now() - this.#polledAt < confirmedForMs ? 'ok' : 'slow';
  }

  /** Number of known projects, and time since their last confirmation, or null. */
  get knowledge(): { readonly count: number; readonly confirmedAgoMs: number | null } {
    const at = this.#confirmedAt;
    return {
      count: this.#states.size,
      confirmedAgoMs: at === 0 ? null : Math.max(0, Date.now() - at),
    };
  }

  /**
   * The project of an id, or null. A known project is confirmed.
   * @throws ServiceError overloaded, store_unavailable
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    if (!isProjectId(id)) return null;
    const known = this.#states.use(id);
    if (known !== undefined) {
      return this.isConfirmed(known) ? unlessDeleted(known) : this.#findConfirmed(id);
    }
    if (this.#states.isUnknown(id)) return null;
    if (this.isStoreDown) throw storeUnavailable();
    if (this.#lookups.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many projects are being looked up.');
    }
    return this.#lookups.run(id, () => this.#lookUp(id));
  }

  /** The latest known state of a project. */
  latest(project: Project): Project {
    return this.#states.peek(project._id)?.project ?? project;
  }

  /**
   * Whether a known project was current less than two seconds ago, or the store is unavailable. Begins to confirm it
   * again when that is soon over.
   */
  isConfirmed(state: ProjectState): boolean {
    if (this.#isStoreDown) return true;
    const id = state.project._id;
    const { unverified } = this.#states;
    const isFollowed = unverified.size === 0 || !unverified.has(id);
    const confirmedAt = isFollowed ? Math.max(state.readAt, this.#polledAt) : state.readAt;
    const ageMs = performance.now() - confirmedAt;
    if (ageMs > renewAfterMs && !this.#confirming.has(id)) void this.#confirm(id);
    return ageMs < confirmedForMs;
  }

  async #findConfirmed(id: string): Promise<ProjectState | null> {
    let known = this.#states.use(id);
    while (known !== undefined && !this.isConfirmed(known)) {
      await this.#confirm(id);
      known = this.#states.use(id);
    }
    // It was evicted, or has been deleted for a day.
    return known === undefined ? this.find(id) : unlessDeleted(known);
  }

  /** Compares a project with the store, together with others. Resolves after the attempt. */
  #confirm(id: string): Promise<void> {
    return this.#confirming.run(id, async () => {
      const startedAt = performance.now();
      try {
        const { changed, loaded } = await this.#comparisons.read(id);
        if (changed.has(id)) await loaded;
      } catch (error) {
        this.#failed(error, startedAt);
      }
    });
  }

  /**
   * Caches a project that was changed by this process, or loaded.
   * @param readAt when its read began; absent for a change
   */
  apply(project: Project, readAt = Number.NEGATIVE_INFINITY): ProjectState {
    return this.#states.apply(project, readAt);
  }

  /** Caches projects of other processes. `confirmedAt` is the time of their confirmation. */
  remember(projects: readonly Project[], confirmedAt = this.#confirmedAt): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmedAt);
    this.#states.remember(projects);
  }

  /** Estimated bytes of the entries. */
  get bytes(): ProjectStates['bytes'] {
    return this.#states.bytes;
  }

  /** Polls now, and from now on. Resolves after the first poll. */
  start(): Promise<void> {
    return this.#pollNow();
  }

  /**
   * Serves known projects without the store, until it answers.
   * @param certain whether the store is known to be unavailable; otherwise the next read that fails decides
   */
  assumeStoreDown(certain: boolean): void {
    this.#failedAt ??= performance.now();
    if (certain) this.#isStoreDown = true;
    this.#expire();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #lookUp(id: string): Promise<ProjectState | null> {
    const readAt = performance.now();
    try {
      const project = await this.#whileLoading([id], () => this.#projects.find(id));
      if (project === null) this.#states.forget(id);
      else this.apply(project, readAt);
      return project && this.#findConfirmed(id);
    } catch (error) {
      if (!isOutage(error)) throw error;
      // Another process may have reported it.
      if (this.#states.peek(id) !== undefined) return this.find(id);
      throw storeUnavailable(error);
    }
  }

  /** Loads projects, and forgets those that do not exist. */
  async #load(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += loadedAtOnce) {
      const some = ids.slice(from, from + loadedAtOnce);
      const readAt = performance.now();
      const found = await this.#whileLoading(some, () => this.#projects.findAll(some));
      const missing = new Set(some);
      for (const project of found) {
        missing.delete(project._id);
        this.apply(project, readAt);
      }
      for (const id of missing) this.#states.forget(id);
    }
  }

  async #whileLoading<T>(ids: readonly string[], load: () => Promise<T>): Promise<T> {
    for (const id of ids) this.#loading.set(id, (this.#loading.get(id) ?? 0) + 1);
    try {
      return await load();
    } finally {
      for (const id of ids) {
        const others = (this.#loading.get(id) ?? 1) - 1;
        if (others > 0) this.#loading.set(id, others);
        else this.#loading.delete(id);
      }
    }
  }

  /** Polls now, unless a poll is in progress. */
  #pollNow(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #poll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const startedAt = Date.now();
    const polledAt = performance.now();
    try {
      await this.#synchronise();
      this.#confirmedAt = startedAt;
      this.#polledAt = polledAt;
      this.#answered();
      this.#environment.onUpdate({ type: 'projects-confirmed', at: startedAt });
      if (this.#reported) this.#environment.onOutage(null);
      this.#reported = false;
    } catch (error) {
      this.#failed(error, polledAt);
      this.#report(error);
    }
    if (this.#stopped) return;
    // The knowledge is as old as the beginning of the poll, and the next poll takes as long again.
    const elapsedMs = performance.now() - polledAt;
    const delayMs = Math.max(0, this.#environment.pollEveryMs - 2 * elapsedMs);
    this.#timer = setTimeout(() => void this.#pollNow(), delayMs);
  }

  /** Projects are confirmed one by one until a poll succeeds. */
  #answered(): void {
    this.#isStoreDown = false;
    this.#failedAt = null;
  }

  #failed(error: unknown, startedAt: number): void {
    // Late answers of the same time may be due to a busy machine; look-ups have a deadline of their own.
    const isFirst = this.#failedAt === null || startedAt < this.#failedAt;
    const mayBeBusy = error instanceof StoreUnavailable && isFirst;
    this.assumeStoreDown(this.isStoreDown || !mayBeBusy);
  }

  #report(error: unknown): void {
    if (!this.isStoreDown || this.#reported || this.#stopped) return;
    this.#reported = true;
    this.#environment.onOutage(error);
  }

  async #synchronise(): Promise<void> {
    const [changes] = await Promise.all([
      this.#changes.next(),
      this.#compare(this.#nextToCompare()).then(({ loaded }) => loaded),
    ]);
    if (changes === null) {
      // After a restored backup the known projects are not those of the store.
      this.#states.unverifyAll();
      const all = new Set([...this.#states.ids, ...this.#loading.keys()]);
      const { loaded } = await this.#compare([...all]);
      return loaded;
    }
    const outdated = changes.filter(({ _id, revision }) => {
      const known = this.#states.peek(_id);
      // A load in progress may have read the project before the change.
      return (known && known.project.revision < revision) || this.#loading.has(_id);
    });
    await this.#load([...new Set(outdated.map(({ _id }) => _id))]);
  }

  /**
   * The unverified projects and some others, in turn: an older release of the service, or a person, may
   * change or delete a project without marking the change.
   */
  #nextToCompare(): string[] {
    if (this.#round.length === 0) this.#round = this.#states.ids;
    return [...new Set([...this.#states.unverified, ...this.#round.splice(0, comparedPerPoll)])];
  }

  /**
   * Compares the revisions of projects with the store. Resolves when the unchanged ones are confirmed, with the ids
   * of the others and a promise of their loads.
   */
  async #compare(ids: readonly string[]): Promise<Comparison> {
    const readAt = performance.now();
    const revisions = await this.#projects.revisionsOf(ids);
    if (ids.length > 0) this.#answered();
    const changed = ids.filter(
      (id) => !this.#states.isUnchanged(id, revisions.get(id) ?? 0, readAt),
    );
    const loaded = this.#load(changed);
    // It may be that nobody waits.
    loaded.catch(() => {});
    return { changed: new Set(changed), loaded };
  }

  /** Removes the known projects when they are too old to be served. */
  #expire(): void {
    if ((this.knowledge.confirmedAgoMs ?? 0) > this.#environment.maxAgeMs) this.#states.clear();
  }
}
