import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { lastGeneration } from '../store/generations.ts';
import { isProjectId } from '../store/identifiers.ts';
import { isOutage, StoreUnavailable } from '../store/outage.ts';
import type { Project, Projects } from '../store/projects.ts';
import type { ProjectUpdate } from './cluster/channel.ts';
import { bytesOfProject, knownBytes } from './cluster/known-projects.ts';
import { storeUnavailable } from './request-errors.ts';
import { RequestCounts } from './usage/request-counts.ts';

/** Limit on look-ups that wait for the store, as a guard against requests with random ids. */
const maxLookups = 256;
/**
 * A comparison covers up to this many projects, even if fewer are due, and loads at most this many.
 */
const [comparedAtOnce, loadedAtOnce] = [1_000, 100];
/**
 * A state's age counts from the start of the read that returned it. A purge must take effect within
 * two seconds.
 */
const servedForMs = 1_900;
/** Compare projects in use early enough that requests do not wait. */
const compareAfterMs = 1_200;
/** Include other projects of this age in a comparison, so that fewer comparisons are needed. */
const includeAfterMs = 600;
/**
 * A comparison starts `pauseMs` after the previous response, or, if that takes long, `overlapMs`
 * after the previous start.
 */
const [pauseMs, overlapMs] = [20, 400];
/** Caches unknown ids, about 2 MiB: old pages and scanners repeat them. */
const unknownIds = { max: 8_000, ttl: 1_000 };
/** Limits cached hosts that belong to no project, such as scanners', to about 2 MiB. */
const maxUnknownHosts = 8_000;

const getHosts = ({ hosts = {} }: Project): readonly string[] =>
  Object.values(hosts).map(({ host }) => host);

/**
 * A project at one revision. `stale` is set when the cache holds another revision, or drops the
 * project.
 */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
  /** Start of the last read that returned this revision, as `performance.now`. */
  readAt: number;
  /** The due or running comparison with the store, or null. */
  comparison: Promise<void> | null;
  readonly counts: RequestCounts;
}

interface ProjectCacheEnvironment {
  /**
   * Interval of the comparisons that run without requests, and also show whether the store
   * responds.
   */
  readonly compareEveryMs: number;
  /** Time limit for serving projects while the store is unavailable. */
  readonly maxAgeMs: number;
  /**
   * Called with an error if the store becomes unavailable after the start, and with null when it
   * responds again.
   */
  readonly onOutage: (error: unknown | null) => void;
  readonly onPurge?: (project: Project) => void;
  /** Called with loaded, changed and missing projects, for other processes. */
  readonly onUpdate: (update: ProjectUpdate) => void;
}

/**
 * A process's known projects. A project loads on its first request. It is served for 1.9 seconds
 * after the read that returned it started. Meanwhile one query compares it, and the process's other
 * projects, with the store's revisions. Requests for an older project wait for this query. While
 * the store is unavailable, known projects are served unchanged.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #known = new LRUCache<string, ProjectState>({
    maxSize: knownBytes,
    sizeCalculation: ({ project }) => bytesOfProject(project),
    // Comparisons skip evicted projects, so a response that refers to this state could be out of
    // date.
    dispose: (state, id) => {
      state.stale = true;
      for (const host of getHosts(state.project)) {
        if (this.#hosts.get(host) === id) this.#hosts.delete(host);
      }
    },
  });
  readonly #unknown = new LRUCache<string, true>(unknownIds);
  /** By project id, or `host ` and a delivery host. */
  readonly #lookups = new SingleFlight<string, void>();
  /** Known project ids by delivery host. */
  readonly #hosts = new Map<string, string>();
  /** Start of the read that found no project for a host, as `performance.now`. */
  readonly #unknownHosts = new LRUCache<string, number>({ max: maxUnknownHosts });
  /** States for the next comparison. */
  readonly #due = new Set<ProjectState>();
  #next: Promise<void> | null = null;
  /** Resolves when the next comparison can start. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Start of the last comparison that the store confirmed, Unix ms, or 0. */
  #confirmedAt = 0;
  #isSlow = false;
  #isStoreDown = false;
  /** Time of the first failure since the last response, as `performance.now`, or null. */
  #failedAt: number | null = null;
  #isReported = false;
  /** Undefined before the start and after the end. */
  #timer: NodeJS.Timeout | undefined;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
  }

  /** Whether the store is considered unavailable. */
  get isStoreDown(): boolean {
    return this.#isStoreDown;
  }

  /**
   * `slow`: requests might wait for a comparison. `unavailable`: projects are served as last
   * confirmed.
   */
  get status(): 'ok' | 'slow' | 'unavailable' {
    if (this.#isStoreDown) return 'unavailable';
    return this.#isSlow ? 'slow' : 'ok';
  }

  /** Number of known projects, and time of the last confirmed comparison, Unix ms, or null. */
  get knowledge(): { readonly count: number; readonly confirmedAt: number | null } {
    return { count: this.#known.size, confirmedAt: this.#confirmedAt || null };
  }

  /**
   * Returns a project by id, or null. Confirms a known project.
   * @throws ServiceError overloaded, store_unavailable
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    if (!isProjectId(id)) return null;
    const known = this.#known.get(id);
    if (known !== undefined) {
      // Deleted projects stay in the store for a day, so that every process sees the deletion like
      // any change.
      if (this.isConfirmed(known)) return known.project.deletedAt == null ? known : null;
      return (known.comparison ?? this.#compareNext(known)).then(() => this.find(id));
    }
    if (this.#unknown.has(id)) return null;
    if (this.#isStoreDown) throw storeUnavailable();
    this.#requireLookup();
    return this.#lookups.run(id, () => this.#lookUp(id)).then(() => this.find(id));
  }

  /**
   * Returns a delivery host's confirmed project, null if the host has no project, or undefined if a
   * look-up is needed. "No project" is valid for 1.9 seconds, and refreshed meanwhile. While the
   * store is unavailable, unknown hosts return null.
   */
  knownAt(host: string): ProjectState | null | undefined {
    const known = this.#known.get(this.#hosts.get(host) ?? '');
    if (known !== undefined) return this.isConfirmed(known) ? known : undefined;
    if (this.#isStoreDown) return null;
    const ageMs = performance.now() - (this.#unknownHosts.get(host) ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= servedForMs) return undefined;
    // Stay below the limit, because this request does not wait.
    if (ageMs > compareAfterMs && this.#lookups.size < maxLookups) void this.#lookUpHost(host);
    return null;
  }

  /**
   * Returns a delivery host's project, or null, even if the store does not respond. Looks up the
   * host if necessary.
   * @throws ServiceError overloaded
   */
  async findAt(host: string): Promise<ProjectState | null> {
    const id = this.#hosts.get(host);
    if (id !== undefined) await this.find(id);
    const known = this.knownAt(host);
    if (known !== undefined) return known;
    this.#requireLookup();
    await this.#lookUpHost(host);
    return this.find(this.#hosts.get(host) ?? '');
  }

  /** Returns whether the store has confirmed that a delivery host belongs to no project. */
  isUnowned(host: string): boolean {
    return !this.#isStoreDown && this.#unknownHosts.has(host);
  }

  /** Returns a cached project, or null, without confirming it. */
  peek(id: string): ProjectState | null {
    const known = this.#known.peek(id);
    return known === undefined || known.project.deletedAt != null ? null : known;
  }

  latest(project: Project): Project {
    return this.#known.peek(project._id)?.project ?? project;
  }

  /**
   * Returns whether a known project was current less than two seconds ago, or the store is
   * unavailable. Starts a comparison shortly before that time ends.
   */
  isConfirmed(state: ProjectState): boolean {
    if (this.#isStoreDown) return true;
    const isOld = performance.now() - state.readAt > compareAfterMs;
    if (isOld && state.comparison === null) this.#compareNext(state);
    return this.wasCurrent(state);
  }

  /**
   * Returns whether a state was current less than two seconds ago: later purges can still be
   * pending.
   */
  wasCurrent(state: ProjectState): boolean {
    return performance.now() - state.readAt < servedForMs;
  }

  /**
   * Caches a project, unless a later revision is cached.
   * @param readAt omitted for a change by this process
   */
  apply(project: Project, readAt = Number.NEGATIVE_INFINITY): ProjectState {
    const known = this.#known.peek(project._id);
    const state = this.#set(project, readAt);
    if (state !== known) this.#environment.onUpdate({ type: 'project-known', project });
    return state;
  }

  /** Caches other processes' projects. @param confirmedAt time of their comparison, Unix ms */
  remember(projects: readonly Project[], confirmedAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmedAt);
    for (const project of projects) this.#set(project, Number.NEGATIVE_INFINITY);
  }

  /** Compares a known project immediately after another process has changed it. */
  compare(id: string): void {
    const known = this.#known.peek(id);
    if (known !== undefined) this.#compareNext(known);
  }

  /**
   * Compares the known projects at once, and then regularly. Resolves after the first comparison.
   */
  start(): Promise<void> {
    this.#timer ??= setInterval(() => this.#compareNext(), this.#environment.compareEveryMs);
    return this.#compareNext();
  }

  /**
   * Serves known projects, unconfirmed, until the store responds.
   * @param certain whether the store is certainly unavailable; otherwise the next failed read
   *   decides
   */
  assumeStoreDown(certain: boolean): void {
    this.#failedAt ??= performance.now();
    this.#isSlow = true;
    if (certain) this.#isStoreDown = true;
    const isExpired = Date.now() - this.#confirmedAt > this.#environment.maxAgeMs;
    if (isExpired && this.#confirmedAt > 0) this.#known.clear();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #requireLookup(): void {
    if (this.#lookups.size < maxLookups) return;
    throw new ServiceError('overloaded', 'Too many projects are being looked up.');
  }

  async #lookUp(id: string): Promise<void> {
    try {
      await this.#load([id]);
    } catch (error) {
      if (!isOutage(error)) throw error;
      // This process might have changed the project meanwhile.
      if (!this.#known.has(id)) throw storeUnavailable(error);
    }
  }

  /** Loads projects, including deleted ones, and drops missing projects. */
  async #load(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const readAt = performance.now();
    const missing = new Set(ids);
    for (const project of await this.#projects.findAll(ids)) {
      missing.delete(project._id);
      this.apply(project, readAt);
    }
    for (const id of missing) {
      this.#drop(id);
      // Set it last, so that no request finds the project.
      this.#unknown.set(id, true);
    }
  }

  /** Never rejects for an outage. */
  #lookUpHost(host: string): Promise<void> {
    return this.#lookups.run(`host ${host}`, async () => {
      const readAt = performance.now();
      try {
        // A known project can lack its host: a slow look-up of the previous project takes it.
        for (const project of await this.#projects.findByHosts([host])) {
          this.#setHosts(this.apply(project, readAt));
        }
        if (!this.#hosts.has(host)) this.#unknownHosts.set(host, readAt);
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
    });
  }

  #set(project: Project, readAt: number): ProjectState {
    const { _id: id, revision } = project;
    const known = this.#known.peek(id);
    // A later revision is at least as current as this read.
    if (known !== undefined && known.project.revision >= revision) {
      known.readAt = Math.max(known.readAt, readAt);
      return known;
    }
    this.#unknown.delete(id);
    const counts = new RequestCounts(id);
    const since = Math.max(readAt, known?.readAt ?? readAt);
    const state = { project, stale: false, readAt: since, comparison: null, counts };
    this.#known.set(id, state);
    this.#setHosts(state);
    const before = known === undefined ? 0 : lastGeneration(known.project);
    if (lastGeneration(project) > before) this.#environment.onPurge?.(project);
    return state;
  }

  /** Makes a known project's delivery hosts lead to the project. */
  #setHosts({ project }: ProjectState): void {
    for (const host of getHosts(project)) {
      this.#hosts.set(host, project._id);
      this.#unknownHosts.delete(host);
    }
  }

  #drop(id: string): void {
    if (this.#known.delete(id)) this.#environment.onUpdate({ type: 'project-forgotten', id });
  }

  /** Adds a state, if any, to the next comparison, which has not started. */
  #compareNext(state?: ProjectState): Promise<void> {
    this.#next ??= this.#turn.then(() => this.#compare());
    if (state !== undefined) {
      this.#due.add(state);
      state.comparison = this.#next;
    }
    return this.#next;
  }

  /** Compares the due projects, and others with an old read, with the store. Never rejects. */
  async #compare(): Promise<void> {
    const comparison = this.#next;
    this.#next = null;
    const [readAt, confirmedAt] = [performance.now(), Date.now()];
    for (const state of this.#known.rvalues()) {
      if (this.#due.size >= comparedAtOnce) break;
      const isOld = state?.comparison === null && state.readAt < readAt - includeAfterMs;
      if (isOld) this.#due.add(state);
    }
    const states = [...this.#due];
    this.#due.clear();
    for (const state of states) state.comparison = comparison;
    const answer = this.#projects.findRevisions(states.map(({ project }) => project._id));
    this.#turn = Promise.race([
      answer.catch(() => {}).then(() => sleep(pauseMs)),
      sleep(overlapMs),
    ]);
    try {
      const revisions = await answer;
      this.#isSlow = performance.now() - readAt > servedForMs - compareAfterMs;
      [this.#isStoreDown, this.#failedAt, this.#confirmedAt] = [false, null, confirmedAt];
      if (this.#isReported) this.#environment.onOutage(null);
      this.#isReported = false;
      const changed: string[] = [];
      for (const state of states) {
        const { _id: id, revision } = state.project;
        const stored = revisions.get(id) ?? 0;
        // The state might have been replaced or evicted since the read started.
        const known = this.#known.peek(id);
        if (known === undefined) continue;
        const isRestored = known === state && stored < revision;
        if (stored > known.project.revision || isRestored) changed.push(id);
        else known.readAt = Math.max(known.readAt, readAt);
        // A restored backup can lower the revision.
        if (isRestored && stored > 0) this.#drop(id);
      }
      await this.#load(changed.slice(0, loadedAtOnce));
    } catch (error) {
      this.#failed(error, readAt);
    } finally {
      for (const state of states) if (state.comparison === comparison) state.comparison = null;
    }
  }

  #failed(error: unknown, startedAt: number): void {
    // Several late responses at once can be due to a busy machine; look-ups use their own deadline.
    const isFirst = this.#failedAt === null || startedAt < this.#failedAt;
    const mayBeBusy = error instanceof StoreUnavailable && isFirst;
    this.assumeStoreDown(this.#isStoreDown || !mayBeBusy);
    if (!this.#isStoreDown || this.#isReported || this.#timer === undefined) return;
    this.#isReported = true;
    this.#environment.onOutage(error);
  }
}
