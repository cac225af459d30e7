import { LRUCache } from 'lru-cache';
import type { Project } from '../store/projects.ts';
import type { ProjectUpdate } from './cluster/channel.ts';
import { bytesOfProject, knownBytes } from './project-bytes.ts';
import { RequestCounts } from './usage/request-counts.ts';

/** A project at one revision. `stale` is set when the cache has a later revision, or none. */
export interface ProjectState {
  readonly project: Project;
  stale: boolean;
  /** When the last read of this project began, as `performance.now`; its answer had no later revision. */
  readAt: number;
  /** Of this process. */
  readonly counts: RequestCounts;
}

export interface ProjectEvents {
  /** Called with a project that has purged images. */
  readonly onPurge?: (project: Project) => void;
  /** Called with changes of projects, for other processes. */
  readonly onUpdate: (update: ProjectUpdate) => void;
}

/** Unknown ids are cached: old pages and scanners repeat them. */
const unknownTtlMs = 1_000;
const unknownBytes = 2 * 1024 * 1024;
const unknownEntryBytes = 256;

/**
 * The latest known states of projects in one process, and the ids that no project has.
 *
 * Projects of other processes are *unverified*: polls do not confirm them before a comparison with the store.
 */
export class ProjectStates {
  readonly #events: ProjectEvents;
  readonly #known: LRUCache<string, ProjectState>;
  readonly #unverified = new Set<string>();
  readonly #unknown = new LRUCache<string, true>({
    maxSize: unknownBytes,
    sizeCalculation: () => unknownEntryBytes,
    ttl: unknownTtlMs,
  });

  constructor(events: ProjectEvents) {
    this.#events = events;
    this.#known = new LRUCache({
      maxSize: knownBytes,
      sizeCalculation: ({ project }) => bytesOfProject(project),
      // An evicted project is not updated, so a response that refers to it could be out of date.
      dispose: (state, id, reason) => {
        state.stale = true;
        if (reason === 'set') return;
        this.#unverified.delete(id);
        events.onUpdate({ type: 'project-forgotten', id });
      },
    });
  }

  get size(): number {
    return this.#known.size;
  }

  get ids(): string[] {
    return [...this.#known.keys()];
  }

  get unverified(): ReadonlySet<string> {
    return this.#unverified;
  }

  /** Estimated bytes of the entries. */
  get bytes(): { readonly known: number; readonly unknown: number } {
    return { known: this.#known.calculatedSize, unknown: this.#unknown.calculatedSize };
  }

  /** The state of a project that is used now. */
  use(id: string): ProjectState | undefined {
    return this.#known.get(id);
  }

  peek(id: string): ProjectState | undefined {
    return this.#known.peek(id);
  }

  /** True for an id that no project had a moment ago. */
  isUnknown(id: string): boolean {
    return this.#unknown.has(id);
  }

  /**
   * Adds a project that was changed by this process, or loaded.
   * @param readAt when its read began; negative infinity for a change
   */
  apply(project: Project, readAt: number): ProjectState {
    const id = project._id;
    this.#unknown.delete(id);
    const known = this.#known.peek(id);
    if (known !== undefined && known.project.revision >= project.revision) {
      if (known.project.revision === project.revision) this.#verify(known, readAt);
      return known;
    }
    const state = this.#set(project);
    if (known !== undefined || readAt > Number.NEGATIVE_INFINITY) this.#verify(state, readAt);
    // A poll may have ignored a later change of another process, because the project was not known.
    else this.#unverified.add(id);
    this.#events.onUpdate({ type: 'project-known', project });
    return state;
  }

  /** Adds projects of other processes. */
  remember(projects: readonly Project[]): void {
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

  /**
   * Compares the revision that the store has, 0 for none, with the known one, and verifies the state if they are equal.
   * @param readAt when the read began
   */
  isUnchanged(id: string, revision: number, readAt: number): boolean {
    const state = this.#known.peek(id);
    const known = state?.project.revision ?? 0;
    // A missing project may have been created in the meantime.
    if (revision > known || revision === 0) return state === undefined && revision === known;
    if (revision < known && this.#unverified.has(id)) {
      // The known revision is from before a restored backup.
      this.#known.delete(id);
      return false;
    }
    if (state !== undefined) this.#verify(state, readAt);
    return true;
  }

  /** The project is removed before the id counts as unknown, so that no request finds it. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#unknown.set(id, true);
  }

  unverifyAll(): void {
    for (const id of this.#known.keys()) this.#unverified.add(id);
  }

  clear(): void {
    this.#known.clear();
  }

  /** Notes that a state was current when a read began. */
  #verify(state: ProjectState, readAt: number): void {
    this.#unverified.delete(state.project._id);
    state.readAt = Math.max(state.readAt, readAt);
  }

  #set(project: Project): ProjectState {
    const before = this.#known.peek(project._id);
    // A later revision is at least as current as the one that was read.
    const readAt = before?.readAt ?? Number.NEGATIVE_INFINITY;
    const state = { project, stale: false, readAt, counts: new RequestCounts(project._id) };
    this.#known.set(project._id, state);
    if (project.purges?.last !== before?.project.purges?.last) this.#events.onPurge?.(project);
    return state;
  }
}
