import { LRUCache } from 'lru-cache';
import type { Project } from '../../store/projects.ts';
import type { KnownProjectsSnapshot, ProjectUpdate } from './channel.ts';

/**
 * The known projects of the front ends of this machine, for front ends that start while the store is
 * unavailable.
 */
export class KnownProjects {
  readonly #projects: LRUCache<string, Project>;
  confirmedAt = 0;

  /** @param maxBytes the limit of a front end */
  constructor(maxBytes: number, bytesOf: (project: Project) => number) {
    this.#projects = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  get snapshot(): KnownProjectsSnapshot {
    return { confirmedAt: this.confirmedAt, projects: [...this.#projects.values()] };
  }

  /** Adds the projects of an earlier process. */
  restore({ confirmedAt, projects }: KnownProjectsSnapshot): void {
    this.confirmedAt = confirmedAt;
    for (const project of projects) this.#projects.set(project._id, project);
  }

  /** Returns whether a project has changed. */
  receive(update: ProjectUpdate): boolean {
    switch (update.type) {
      case 'project-known': {
        const { project } = update;
        const known = this.#projects.peek(project._id);
        if (known !== undefined && known.revision >= project.revision) return false;
        this.#projects.set(project._id, project);
        return true;
      }
      case 'project-forgotten':
        return this.#projects.delete(update.id);
      case 'projects-confirmed':
        this.confirmedAt = Math.max(this.confirmedAt, update.at);
        return false;
    }
  }
}
