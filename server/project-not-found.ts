import { ServiceError } from '../contract/errors.ts';
import type { Project } from '../store/projects.ts';

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
