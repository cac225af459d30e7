import type { Document } from 'mongodb';
import { callbackJobName, jobsCollection, prewarmJobName } from './jobs.ts';

interface ProjectCollection {
  readonly name: string;
  readonly ofProject: (id: string) => Document;
}

const byProjectId = (projectId: string): Document => ({ projectId });

/**
 * Collections whose documents are deleted together with their project, starting with its keys.
 * Purge hook calls stay, so that the CDN still drops the images.
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
