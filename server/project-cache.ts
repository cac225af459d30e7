import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { lastGeneration } from '../store/generations.ts';
import { isProjectId } from '../store/identifiers.ts';
import { isOutage, StoreUnavailable } from '../store/outage.ts';
import type { Project, Projects } from '../store/projects.ts';
import type { ProjectUpdate } from './cluster/channel.ts';
import { bytesOfProject, knownBytes } from './project-bytes.ts';
import { storeUnavailable } from './store-failure.ts';
import { RequestCounts } from './usage/request-counts.ts';

/** Limit of look-ups that wait for the store, against requests with random ids. */
const maxLookups = 256;
/** A comparison has this many projects if fewer are due, and loads this many at most. */
const [comparedAtOnce, loadedAtOnce] = [1_000, 100];
/** A state is as old as the beginning of the read that returned it. A purge must be in effect after two seconds. */
const servedForMs = 1_900;
/** A project in use is compared before requests have to wait. */
const compareAfterMs = 1_200;
/** A comparison includes other projects that are this old, so that few comparisons are needed. */
const includeAfterMs = 600;
/** A comparison starts this long after the answer to the previous one, or after the longer time from its start. */
const [pauseMs, overlapMs] = [20, 400];
/** Unknown ids are cached, some 2 MiB: old pages and scanners repeat them. */
const unknownIds = { max: 8_000, ttl: 1_000 };
/** Hosts of no project, such as those of scanners, some 2 MiB. */
const maxUnknownHosts = 8_000;

const hostsOf = ({ hosts = {} }: Project): readonly string[] =>
  Object.values(hosts).map(({ host }) => host);

/** A project at one revision. `stale` is set when the cache has another revision, or none. */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
  /** When the last read that returned this revision began, as `performance.now`. */
  readAt: number;
  /** The comparison with the store that is due or in progress, or null. */
  comparison: Promise<void> | null;
  readonly counts: RequestCounts;
}

interface ProjectCacheEnvironment {
  /** Interval of the comparisons without requests, which also show whether the store answers. */
  readonly compareEveryMs: number;
  /** Time limit for serving projects while the store is unavailable. */
  readonly maxAgeMs: number;
  /** Called with an error when the store becomes unavailable after the start, and with null when it answers again. */
  readonly onOutage: (error: unknown | null) => void;
  readonly onPurge?: (project: Project) => void;
  /** Called with loaded, changed and missing projects, for other processes. */
  readonly onUpdate: (update: ProjectUpdate) => void;
}

/**
 * The known projects of one process. A project is loaded for its first request. It is served for 1.9 seconds after the
 * beginning of the read that returned it, and compared with the store in the meantime, together with the others of the
 * process: one query returns their revisions. An older project waits for this query. While the store is unavailable,
 * known projects are served as they are.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #known = new LRUCache<string, ProjectState>({
    maxSize: knownBytes,
    sizeCalculation: ({ project }) => bytesOfProject(project),
    // An evicted project is not compared, so a response that refers to it could be out of date.
    dispose: (state, id) => {
      state.stale = true;
      for (const host of hostsOf(state.project)) {
        if (this.#hosts.get(host) === id) this.#hosts.delete(host);
      }
    },
  });
  readonly #unknown = new LRUCache<string, true>(unknownIds);
  readonly #lookups = new SingleFlight<string, void>();
  /** The ids of known projects by their delivery hosts. */
  readonly #hosts = new Map<string, string>();
  /** When the reads began that found no project of a host, as `performance.now`. */
  readonly #unknownHosts = new LRUCache<string, number>({ max: maxUnknownHosts });
  /** Hosts for the next look-up. */
  readonly #dueHosts = new Set<string>();
  #nextHosts: Promise<void> | null = null;
  #hostTurn: Promise<unknown> = Promise.resolve();
  /** States for the next comparison. */
  readonly #due = new Set<ProjectState>();
  #next: Promise<void> | null = null;
  /** Resolves when the next comparison may start. */
  #turn: Promise<unknown> = Promise.resolve();
  /** When the last comparison began that the store answered, Unix ms; 0 for never. */
  #confirmedAt = 0;
  #isSlow = false;
  #isStoreDown = false;
  /** When the first failure since the last answer was noticed, as `performance.now`; null for none. */
  #failedAt: number | null = null;
  #isReported = false;
  /** Undefined before the start and after the end. */
  #timer: NodeJS.Timeout | undefined;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
  }

  /** The store is known to be unavailable. */
  get isStoreDown(): boolean {
    return this.#isStoreDown;
  }

  /** `slow`: requests can wait for a comparison. `unavailable`: projects are served as they were last confirmed. */
  get status(): 'ok' | 'slow' | 'unavailable' {
    if (this.#isStoreDown) return 'unavailable';
    return this.#isSlow ? 'slow' : 'ok';
  }

  /** Number of known projects, and when the store last answered a comparison, Unix ms, or null. */
  get knowledge(): { readonly count: number; readonly confirmedAt: number | null } {
    return { count: this.#known.size, confirmedAt: this.#confirmedAt || null };
  }

  /**
   * Returns the project of an id, or null. A known project is confirmed.
   * @throws ServiceError overloaded, store_unavailable
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    if (!isProjectId(id)) return null;
    const known = this.#known.get(id);
    if (known !== undefined) {
      // A deleted project stays in the store for a day, so that every process learns of it as of other changes.
      if (this.isConfirmed(known)) return known.project.deletedAt == null ? known : null;
      return (known.comparison ?? this.#compareNext(known)).then(() => this.find(id));
    }
    if (this.#unknown.has(id)) return null;
    if (this.#isStoreDown) throw storeUnavailable();
    if (this.#lookups.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many projects are being looked up.');
    }
    return this.#lookups.run(id, () => this.#lookUp(id)).then(() => this.find(id));
  }

  /**
   * Returns the confirmed project of a delivery host, null if the host has none, or undefined if this has to be looked
   * up. A host without a project is served as such for 1.9 seconds, and looked up again in the meantime; while the store
   * is unavailable, hosts that are not known have none.
   */
  knownAt(host: string): ProjectState | null | undefined {
    const known = this.#known.get(this.#hosts.get(host) ?? '');
    if (known !== undefined) return this.isConfirmed(known) ? known : undefined;
    if (this.#isStoreDown) return null;
    const ageMs = performance.now() - (this.#unknownHosts.get(host) ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= servedForMs) return undefined;
    // Within the limit, because the request does not wait.
    if (ageMs > compareAfterMs && this.#dueHosts.size < maxLookups) void this.#lookUpHost(host);
    return null;
  }

  /**
   * Returns the project of a delivery host, or null. Looks up the host if need be.
   * @throws ServiceError overloaded
   */
  async findAt(host: string): Promise<ProjectState | null> {
    const id = this.#hosts.get(host);
    if (id !== undefined) await this.find(id);
    const known = this.knownAt(host);
    if (known !== undefined) return known;
    if (this.#dueHosts.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many hosts are being looked up.');
    }
    await this.#lookUpHost(host);
    return this.find(this.#hosts.get(host) ?? '');
  }

  /** Returns the project of an id if it is known, also if it has to be confirmed. */
  peek(id: string): ProjectState | null {
    const known = this.#known.peek(id);
    return known === undefined || known.project.deletedAt != null ? null : known;
  }

  latest(project: Project): Project {
    return this.#known.peek(project._id)?.project ?? project;
  }

  /**
   * Returns whether a known project was current less than two seconds ago, or the store is unavailable. Starts a
   * comparison when that is soon over.
   */
  isConfirmed(state: ProjectState): boolean {
    if (this.#isStoreDown) return true;
    const isOld = performance.now() - state.readAt > compareAfterMs;
    if (isOld && state.comparison === null) this.#compareNext(state);
    return this.wasCurrent(state);
  }

  /** Returns whether a state was current less than two seconds ago: later purges need not be in effect yet. */
  wasCurrent(state: ProjectState): boolean {
    return performance.now() - state.readAt < servedForMs;
  }

  /** Caches a project, unless a later revision is known. @param readAt absent for a change of this process */
  apply(project: Project, readAt = Number.NEGATIVE_INFINITY): ProjectState {
    const known = this.#known.peek(project._id);
    const state = this.#set(project, readAt);
    if (state !== known) this.#environment.onUpdate({ type: 'project-known', project });
    return state;
  }

  /** Caches projects of other processes. @param confirmedAt when these were compared, Unix ms */
  remember(projects: readonly Project[], confirmedAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmedAt);
    for (const project of projects) this.#set(project, Number.NEGATIVE_INFINITY);
  }

  /** Compares a project now, if it is known, because another process has changed it. */
  compare(id: string): void {
    const known = this.#known.peek(id);
    if (known !== undefined) this.#compareNext(known);
  }

  /** Compares the known projects now, and from now on. Resolves after the first comparison. */
  start(): Promise<void> {
    this.#timer ??= setInterval(() => this.#compareNext(), this.#environment.compareEveryMs);
    return this.#compareNext();
  }

  /**
   * Serves known projects without the store, until it answers.
   * @param certain whether the store is known to be unavailable; otherwise the next read that fails decides
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

  async #lookUp(id: string): Promise<void> {
    try {
      await this.#load([id]);
    } catch (error) {
      if (!isOutage(error)) throw error;
      // This process may have changed it meanwhile.
      if (!this.#known.has(id)) throw storeUnavailable(error);
    }
  }

  /** Loads projects, also those that were deleted, and forgets missing ones. */
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
      // Afterwards, so that no request finds it.
      this.#unknown.set(id, true);
    }
  }

  /** Adds a host to the next look-up, which begins after the one before. Never rejects for an outage. */
  #lookUpHost(host: string): Promise<void> {
    this.#dueHosts.add(host);
    this.#nextHosts ??= this.#hostTurn.then(() => this.#lookUpHosts());
    return this.#nextHosts;
  }

  async #lookUpHosts(): Promise<void> {
    const hosts = [...this.#dueHosts];
    this.#dueHosts.clear();
    this.#nextHosts = null;
    const readAt = performance.now();
    const answer = this.#projects.findByHosts(hosts);
    this.#hostTurn = answer.catch(() => {}).then(() => sleep(pauseMs));
    try {
      for (const project of await answer) this.apply(project, readAt);
      for (const host of hosts) if (!this.#hosts.has(host)) this.#unknownHosts.set(host, readAt);
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
  }

  #set(project: Project, readAt: number): ProjectState {
    const { _id: id, revision } = project;
    const known = this.#known.peek(id);
    // A later revision is at least as current as the state that was read.
    if (known !== undefined && known.project.revision >= revision) {
      known.readAt = Math.max(known.readAt, readAt);
      return known;
    }
    this.#unknown.delete(id);
    const counts = new RequestCounts(id);
    const since = Math.max(readAt, known?.readAt ?? readAt);
    const state = { project, stale: false, readAt: since, comparison: null, counts };
    this.#known.set(id, state);
    for (const host of hostsOf(project)) {
      this.#hosts.set(host, id);
      this.#unknownHosts.delete(host);
    }
    const before = known === undefined ? 0 : lastGeneration(known.project);
    if (lastGeneration(project) > before) this.#environment.onPurge?.(project);
    return state;
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

  /** Compares the due projects, and others that were read long ago, with the store. Never rejects. */
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
    const answer = this.#projects.revisionsOf(states.map(({ project }) => project._id));
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
        // Another state if it was replaced after the read began; none if it was evicted.
        const known = this.#known.peek(id);
        if (known === undefined) continue;
        const isRestored = known === state && stored < revision;
        if (stored > known.project.revision || isRestored) changed.push(id);
        else known.readAt = Math.max(known.readAt, readAt);
        // After a backup was restored.
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
    // Late answers of the same time may be due to a busy machine; look-ups have a deadline of their own.
    const isFirst = this.#failedAt === null || startedAt < this.#failedAt;
    const mayBeBusy = error instanceof StoreUnavailable && isFirst;
    this.assumeStoreDown(this.#isStoreDown || !mayBeBusy);
    if (!this.#isStoreDown || this.#isReported || this.#timer === undefined) return;
    this.#isReported = true;
    this.#environment.onOutage(error);
  }
}
