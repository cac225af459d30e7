import type { Project } from '../store/projects.ts';

/** Size limit of a process's known projects: about ten thousand average projects. */
export const knownBytes = 32 * 1024 * 1024;
/** Estimated entry size, excluding the project's JSON. */
const entryBytes = 2_048;

/** Returns a known project's estimated size. */
export const bytesOfProject = (project: Project): number =>
  entryBytes + 2 * JSON.stringify(project).length;
