import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { isProjectId } from '../store/identifiers.ts';
import { isOutage, StoreUnavailable } from '../store/outage.ts';
import type { ProjectChanges } from '../store/project-changes.ts';
import type { Project, Projects } from '../store/projects.ts';
import type { ProjectUpdate } from './cluster/channel.ts';
import { bytesOfProject, knownBytes } from './project-bytes.ts';
import { storeUnavailable } from './store-failure.ts';
import { RequestCounts } from './usage/request-counts.ts';

/** @param id as received from the client, of any length */
export function projectNotFound(id: string): ServiceError {
  const shown = id.slice(0, 80).toWellFormed();
  return new ServiceError('project_not_found', `There is no project ${shown}.`);
}

/** @throws ServiceError project_not_found for null */
export function requireProject(id: string, project: Project | null): Project {
  if (project === null) throw projectNotFound(id);
  return project;
}

/** A project at one revision. `stale` is set when the cache has a later revision, or none. */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
  /** Of this process. */
  readonly counts: RequestCounts;
}

/** Unknown ids are cached: old pages and scanners repeat them. */
const unknownTtlMs = 1_000;
const unknownBytes = 2 * 1024 * 1024;
const unknownEntryBytes = 256;
/** Limit of look-ups that wait for the store, against requests with random ids. */
const maxLookups = 256;
/** Projects that each poll compares with the store in addition to changed ones. */
const comparedPerPoll = 100;
const comparedAtOnce = 1_000;
/** Less than the two seconds after which a purge must be in effect. */
const confirmedForMs = 1_900;
/** Time for which a request waits for the confirmation. */
const confirmWithinMs = 1_000;
/** A poll has up to five calls, and a purge's two seconds are for a store that answers within 200 ms. */
const slowPollMs = 1_000;
const maxSlowPolls = 2;

export interface ProjectCacheEnvironment {
  readonly pollEveryMs: number;
  /** Time limit for serving projects while the store is unavailable. */
  readonly maxAgeMs: number;
  /** Called with an error when polling begins to fail, and with null when it works again. */
  readonly onOutage: (error: unknown | null) => void;
  /** Called with a project that has purged images. */
  readonly onPurge?: (project: Project) => void;
  /** Called with changes of projects, for other processes. */
  readonly onUpdate: (update: ProjectUpdate) => void;
}

/**
 * The known projects of one process. A project is loaded for its first request, and updated by polling the
 * store for changes, or at once when this or another process reports a change. While the store is
 * unavailable, known projects are still served.
 *
 * Projects of other processes are *unverified*: they are served while the store is unavailable, and otherwise
 * only after a comparison with the store.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #changes: ProjectChanges;
  readonly #known: LRUCache<string, ProjectState>;
  readonly #unverified = new Set<string>();
  readonly #unknown = new LRUCache<string, true>({
    maxSize: unknownBytes,
    sizeCalculation: () => unknownEntryBytes,
    ttl: unknownTtlMs,
  });
  readonly #lookups = new SingleFlight<string, ProjectState | null>();
  /** Number of loads in progress by id. */
  readonly #loading = new Map<string, number>();
  /** Ids that remain to be compared in this round. */
  #round: string[] = [];
  /** The time at which the known projects were last known to be current, Unix ms. */
  #confirmedAt = 0;
  /** The time at which the last successful poll began, as `performance.now`; null while the store is slow. */
  #polledAt: number | null = null;
  /** Number of successive polls that took long. A single one may be due to a suspension of this process. */
  #slowPolls = 0;
  #polling: Promise<void> | null = null;
  #confirming: Promise<void> | null = null;
  #store: 'available' | 'unknown' | 'unavailable' = 'available';
  #failedPolls = 0;
  #reported = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
    this.#changes = projects.followChanges();
    this.#known = new LRUCache({
      maxSize: knownBytes,
      sizeCalculation: ({ project }) => bytesOfProject(project),
      // An evicted project is not updated, so a response that refers to it could be out of date.
      dispose: (state, id, reason) => {
        state.stale = true;
        if (reason === 'set') return;
        this.#unverified.delete(id);
        this.#environment.onUpdate({ type: 'project-forgotten', id });
      },
    });
  }

  /** The store is known to be unavailable. */
  get isStoreDown(): boolean {
    return this.#store === 'unavailable';
  }

  /** Number of known projects, and time since their last confirmation, or null. */
  get knowledge(): { readonly count: number; readonly confirmedAgoMs: number | null } {
    const at = this.#confirmedAt;
    return {
      count: this.#known.size,
      confirmedAgoMs: at === 0 ? null : Math.max(0, Date.now() - at),
    };
  }

  /**
   * The project of an id, or null.
   * @throws ServiceError overloaded, store_unavailable
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    if (!isProjectId(id)) return null;
    return this.areConfirmed() ? this.#find(id) : this.confirmed().then(() => this.#find(id));
  }

  #find(id: string): ProjectState | null | Promise<ProjectState | null> {
    const known = this.#known.get(id);
    if (known !== undefined && (this.#store !== 'available' || !this.#unverified.has(id))) {
      return known;
    }
    if (this.#unknown.has(id)) return null;
    if (this.isStoreDown) throw storeUnavailable();
    if (this.#lookups.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many projects are being looked up.');
    }
    return this.#lookups.run(id, () => this.#lookUp(id));
  }

  /** The latest known state of a project. */
  latest(project: Project): Project {
    return this.#known.peek(project._id)?.project ?? project;
  }

  /**
   * Whether the known projects were current within the last two seconds. If not, this process was suspended, and
   * may have missed a purge, or the store is slow or does not answer: then there is nothing to wait for.
   */
  areConfirmed(): boolean {
    const polledAt = this.#polledAt;
    if (this.#store !== 'available' || polledAt === null) return true;
    return performance.now() - polledAt < confirmedForMs;
  }

  /** Resolves when the known projects are confirmed, or after a second. Requests share the wait. */
  async confirmed(): Promise<void> {
    if (this.areConfirmed()) return;
    this.#confirming ??= Promise.race([
      this.#confirm(performance.now()),
      sleep(confirmWithinMs, undefined, { ref: false }),
    ]).finally(() => {
      this.#confirming = null;
    });
    await this.#confirming;
  }

  /** Polls, after the poll in progress if there is one. */
  async #confirm(since: number): Promise<void> {
    while (this.#store === 'available' && this.#polledAt !== null && this.#polledAt < since) {
      await this.#pollNow();
      if (this.#stopped) return;
    }
  }

  /** Caches a project that was changed by this process, or loaded. */
  apply(project: Project): ProjectState {
    const id = project._id;
    this.#unknown.delete(id);
    const known = this.#known.peek(id);
    if (known !== undefined && known.project.revision >= project.revision) {
      if (known.project.revision === project.revision) this.#unverified.delete(id);
      return known;
    }
    this.#unverified.delete(id);
    const state = this.#set(project);
    this.#environment.onUpdate({ type: 'project-known', project });
    return state;
  }

  /** Caches projects of other processes. `confirmedAt` is the time of their confirmation. */
  remember(projects: readonly Project[], confirmedAt = this.#confirmedAt): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmedAt);
    for (const project of projects) {
      const id = project._id;
      const known = this.#known.peek(id);
      if (known !== undefined && known.project.revision >= project.revision) continue;
      this.#unknown.delete(id);
      // The changes of a known project are followed, so a later revision is current.
      if (known === undefined) this.#unverified.add(id);
      this.#set(project);
    }
  }

  #set(project: Project): ProjectState {
    const state = { project, stale: false, counts: new RequestCounts(project._id) };
    const before = this.#known.peek(project._id)?.project.purges?.last;
    this.#known.set(project._id, state);
    if (project.purges?.last !== before) this.#environment.onPurge?.(project);
    return state;
  }

  /** Estimated bytes of the entries. */
  get bytes(): { readonly known: number; readonly unknown: number } {
    return { known: this.#known.calculatedSize, unknown: this.#unknown.calculatedSize };
  }

  /** Polls now, and from now on. Resolves after the first poll. */
  start(): Promise<void> {
    return this.#pollNow();
  }

  /**
   * Serves unverified projects too, until a poll succeeds.
   * @param certain whether the store is known to be unavailable, not only slow
   */
  assumeStoreDown(certain: boolean): void {
    this.#store = certain ? 'unavailable' : 'unknown';
    this.#expire();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #lookUp(id: string): Promise<ProjectState | null> {
    try {
      return await this.#load(id);
    } catch (error) {
      if (!isOutage(error)) throw error;
      const remembered = this.#known.get(id);
      if (remembered !== undefined) return remembered;
      throw storeUnavailable(error);
    }
  }

  async #load(id: string): Promise<ProjectState | null> {
    this.#loading.set(id, (this.#loading.get(id) ?? 0) + 1);
    try {
      return await this.#read(id);
    } finally {
      const others = (this.#loading.get(id) ?? 1) - 1;
      if (others > 0) this.#loading.set(id, others);
      else this.#loading.delete(id);
    }
  }

  async #read(id: string): Promise<ProjectState | null> {
    const project = await this.#projects.find(id);
    if (project !== null) return this.apply(project);
    // The project is removed before the id counts as unknown, so that no request finds it.
    this.#known.delete(id);
    this.#unknown.set(id, true);
    return null;
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
      this.#slowPolls = performance.now() - polledAt < slowPollMs ? 0 : this.#slowPolls + 1;
      this.#polledAt = this.#slowPolls < maxSlowPolls ? polledAt : null;
      this.#store = 'available';
      this.#failedPolls = 0;
      this.#environment.onUpdate({ type: 'projects-confirmed', at: startedAt });
      if (this.#reported) this.#environment.onOutage(null);
      this.#reported = false;
    } catch (error) {
      this.#pollFailed(error);
    }
    if (this.#stopped) return;
    const elapsedMs = performance.now() - polledAt;
    const delayMs = Math.max(0, this.#environment.pollEveryMs - elapsedMs);
    this.#timer = setTimeout(() => void this.#pollNow(), delayMs);
  }

  #pollFailed(error: unknown): void {
    // One late answer may be due to a busy machine; look-ups have a deadline of their own.
    const mayBeBusy = error instanceof StoreUnavailable && this.#failedPolls === 0;
    this.#failedPolls += 1;
    this.assumeStoreDown(this.isStoreDown || !mayBeBusy);
    if (!this.isStoreDown || this.#reported || this.#stopped) return;
    this.#reported = true;
    this.#environment.onOutage(error);
  }

  async #synchronise(): Promise<void> {
    const changes = await this.#changes.next();
    for (const { _id, revision } of changes ?? []) {
      const known = this.#known.peek(_id);
      const outdated = known !== undefined && known.project.revision < revision;
      // A load in progress may have read the project before the change.
      if (outdated || this.#loading.has(_id)) await this.#load(_id);
    }
    const ids = changes === null ? this.#all() : this.#nextToCompare();
    // After a restored backup the known projects are not those of the store.
    if (changes === null) for (const id of this.#known.keys()) this.#unverified.add(id);
    for (let from = 0; from < ids.length; from += comparedAtOnce) {
      await this.#compare(ids.slice(from, from + comparedAtOnce));
    }
  }

  #all(): string[] {
    return [...new Set([...this.#known.keys(), ...this.#loading.keys()])];
  }

  /**
   * The unverified projects and some others, in turn: an older release of the service, or a person, may
   * change or delete a project without marking the change.
   */
  #nextToCompare(): string[] {
    if (this.#round.length === 0) this.#round = [...this.#known.keys()];
    return [...new Set([...this.#unverified, ...this.#round.splice(0, comparedPerPoll)])];
  }

  async #compare(ids: readonly string[]): Promise<void> {
    const revisions = await this.#projects.revisionsOf(ids);
    for (const id of ids) {
      const known = this.#known.peek(id)?.project.revision ?? 0;
      const revision = revisions.get(id) ?? 0;
      if (revision === known) {
        this.#unverified.delete(id);
      } else if (revision < known && this.#unverified.has(id)) {
        // The known revision is from before a restored backup.
        this.#known.delete(id);
        await this.#load(id);
      } else if (revision > known || revision === 0) {
        // A missing project may have been created in the meantime.
        await this.#load(id);
      }
    }
  }

  /** Removes the known projects when they are too old to be served. */
  #expire(): void {
    if ((this.knowledge.confirmedAgoMs ?? 0) > this.#environment.maxAgeMs) this.#known.clear();
  }
}
