import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { isProjectId } from '../store/identifiers.ts';
import type { Project, Projects } from '../store/projects.ts';

/** A project at one revision. `stale` becomes true when the cache has a later revision, or none. */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
}

/** Some ten thousand projects with the hosts of an average one. */
const knownBytes = 32 * 1024 * 1024;
/** Unknown ids are cached too: old pages and scanners request them again and again. */
const unknownTtlMs = 1_000;
const unknownBytes = 2 * 1024 * 1024;
/** Estimated size of an entry: its id, the cache's own fields, and a project's other fields. */
const entryBytes = { unknown: 256, known: 2_048 };
/** Look-ups that may wait for the store: requests with random ids must not pile up without bound. */
const maxLookups = 256;
/**
 * The poll also reads changes that are this much older than the latest: changes become visible in the
 * store a little out of the order of their dates.
 */
const overlapMs = 10_000;

export interface ProjectCacheEnvironment {
  readonly pollEveryMs: number;
  /** Called with the error when polling begins to fail, and with null when it works again. */
  readonly onOutage: (error: unknown | null) => void;
}

/**
 * The projects that one process has cached. A project is loaded when a request first needs it, and
 * updated by polling the store for changes, or at once when this or another process reports a
 * change. While the store is unavailable, cached projects are still served.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #known: LRUCache<string, ProjectState>;
  readonly #unknown = new LRUCache<string, true>({
    maxSize: unknownBytes,
    sizeCalculation: () => entryBytes.unknown,
    ttl: unknownTtlMs,
  });
  readonly #lookups = new SingleFlight<string, ProjectState | null>();
  #latest: Date | null = null;
  #failing = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
    this.#known = new LRUCache({
      maxSize: knownBytes,
      sizeCalculation: ({ project }) => entryBytes.known + 2 * JSON.stringify(project).length,
      // An evicted project is no longer updated, so a response that refers to it could be out of date.
      dispose: (state) => {
        state.stale = true;
      },
    });
  }

  /**
   * The project of an id, or null when there is none.
   * @throws ServiceError overloaded; the driver's error when the store is unavailable
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    if (!isProjectId(id)) return null;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (this.#unknown.has(id)) return null;
    if (this.#lookups.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many projects are being looked up.');
    }
    return this.#lookups.run(id, () => this.#load(id));
  }

  /** Caches a project that was changed by this process, or loaded. */
  apply(project: Project): ProjectState {
    const id = project._id;
    this.#unknown.delete(id);
    const known = this.#known.peek(id);
    if (known !== undefined && known.project.revision >= project.revision) return known;
    const state = { project, stale: false };
    this.#known.set(id, state);
    return state;
  }

  /** Reloads a project that another process has changed. If that fails, a poll finds the change. */
  async refresh(id: string): Promise<void> {
    this.#unknown.delete(id);
    // Not by single flight: a look-up in progress may have read the project before the change.
    await this.#load(id).catch(() => {});
  }

  /** Bytes of the entries, as they are estimated. */
  get bytes(): { readonly known: number; readonly unknown: number } {
    return { known: this.#known.calculatedSize, unknown: this.#unknown.calculatedSize };
  }

  start(): void {
    this.#timer = setTimeout(() => this.#poll(), this.#environment.pollEveryMs);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #load(id: string): Promise<ProjectState | null> {
    const project = await this.#projects.find(id);
    if (project !== null) return this.apply(project);
    this.#unknown.set(id, true);
    return null;
  }

  async #poll(): Promise<void> {
    try {
      await this.#loadChanges();
      if (this.#failing) this.#environment.onOutage(null);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing && !this.#stopped) this.#environment.onOutage(error);
      this.#failing = true;
    }
    if (!this.#stopped) this.start();
  }

  async #loadChanges(): Promise<void> {
    const since = this.#latest ?? (await this.#projects.latestChange());
    if (since === null) return;
    const changes = await this.#projects.changesSince(new Date(since.getTime() - overlapMs));
    for (const { _id, revision, changedAt } of changes) {
      if (this.#latest === null || changedAt > this.#latest) this.#latest = changedAt;
      const known = this.#known.peek(_id);
      if (known !== undefined && known.project.revision < revision) await this.#load(_id);
    }
  }
}
