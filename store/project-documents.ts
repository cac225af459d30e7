import type { Db, Document } from 'mongodb';
import { callbackJobName, jobsCollection, prewarmJobName } from './waiting-jobs.ts';

export interface ProjectCollection {
  readonly name: string;
  readonly ofProject: (id: string) => Document;
}

const byProjectId = (projectId: string): Document => ({ projectId });

/**
 * The documents that are deleted with their project: access ends first. Calls of the purge hook stay, because a CDN
 * must learn that the images are gone.
 */
export const projectCollections: readonly ProjectCollection[] = [
  { name: 'keys', ofProject: byProjectId },
  { name: 'hosts', ofProject: byProjectId },
  {
    name: jobsCollection,
    ofProject: (id) => ({
      name: { $in: [prewarmJobName, callbackJobName] },
      'data.projectId': id,
    }),
  },
  { name: 'prewarms', ofProject: byProjectId },
  { name: 'purges', ofProject: byProjectId },
  { name: 'usage', ofProject: (project) => ({ project }) },
  { name: 'activity', ofProject: (project) => ({ project }) },
];

/** What a project has besides its own document. */
export class ProjectDocuments {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Repeatable. Without a deadline: there may be many. */
  async delete(projectId: string): Promise<void> {
    for (const { name, ofProject } of projectCollections) {
      await this.#db.collection(name).deleteMany(ofProject(projectId));
    }
  }
}
