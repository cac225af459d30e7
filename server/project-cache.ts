import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { SingleFlight } from '../pool/single-flight.ts';
import { isProjectId } from '../store/identifiers.ts';
import type { Project, Projects } from '../store/projects.ts';

/** A project as it was at one revision. Whoever keeps one sees by `stale` that it is out of date. */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
}

const maxProjects = 10_000;
/** Ids that lead nowhere are asked for again and again, too: by old pages and by the curious. */
const unknownForMs = 1_000;
const maxUnknown = 10_000;
/** Look-ups that may wait for the store; made-up ids must not pile up without bound. */
const maxLookups = 256;
/**
 * How far behind the latest change the poll looks: changes become visible a little out of the
 * order of their dates.
 */
const overlapMs = 10_000;

export interface ProjectCacheEnvironment {
  readonly pollEveryMs: number;
  /** The poll failed, and before it worked; or the reverse, with null. */
  readonly onTrouble: (error: unknown | null) => void;
}

/**
 * The projects as one process knows them: loaded when first asked for, kept up to date by a poll
 * of what changed, and at once by whoever hears of a change. When the store is away, known
 * projects go on being served.
 */
export class ProjectCache {
  readonly #projects: Projects;
  readonly #environment: ProjectCacheEnvironment;
  readonly #known: LRUCache<string, ProjectState>;
  readonly #unknown = new LRUCache<string, true>({ max: maxUnknown, ttl: unknownForMs });
  readonly #lookups = new SingleFlight<string, ProjectState | null>();
  #latest: Date | null = null;
  #troubled = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(projects: Projects, environment: ProjectCacheEnvironment) {
    this.#projects = projects;
    this.#environment = environment;
    this.#known = new LRUCache({
      max: maxProjects,
      // Nobody would tell a holder of an evicted state that it became stale.
      dispose: (state) => {
        state.stale = true;
      },
    });
  }

  /**
   * The project of an id, or null when there is none.
   * @throws ServiceError overloaded; the driver's error when the store is away
   */
  find(id: string): ProjectState | null | Promise<ProjectState | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (!isProjectId(id) || this.#unknown.has(id)) return null;
    if (this.#lookups.size >= maxLookups) {
      throw new ServiceError('overloaded', 'Too many projects are being looked up.');
    }
    return this.#lookups.run(id, () => this.#load(id));
  }

  /** A change that was made here, or that somebody told of with the project itself. */
  apply(project: Project): ProjectState {
    const id = project._id;
    this.#unknown.delete(id);
    const known = this.#known.peek(id);
    if (known !== undefined && known.project.revision >= project.revision) return known;
    const state = { project, stale: false };
    this.#known.set(id, state);
    return state;
  }

  /** A change that somebody told of. When the store cannot say which, the poll will. */
  async refresh(id: string): Promise<void> {
    this.#unknown.delete(id);
    // A look-up that is under way may have read the project before it changed, so none is joined.
    await this.#load(id).catch(() => {});
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
      await this.#follow();
      if (this.#troubled) this.#environment.onTrouble(null);
      this.#troubled = false;
    } catch (error) {
      if (!this.#troubled && !this.#stopped) this.#environment.onTrouble(error);
      this.#troubled = true;
    }
    if (!this.#stopped) this.start();
  }

  async #follow(): Promise<void> {
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
