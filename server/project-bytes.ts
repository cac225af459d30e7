import type { Project } from '../store/projects.ts';

/** Limit of the known projects of a process: about ten thousand average ones. */
export const knownBytes = 32 * 1024 * 1024;
/** Estimated size of an entry without the project's JSON. */
const entryBytes = 2_048;

/** The estimated size of a known project. */
export const bytesOfProject = (project: Project): number =>
  entryBytes + 2 * JSON.stringify(project).length;
