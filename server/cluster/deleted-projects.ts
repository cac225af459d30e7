import type { Logger } from '../../contract/log.ts';
import type { ProjectDocuments } from '../../store/project-documents.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { readRepeatedly } from './repeated-read.ts';

const everyMs = 30_000;
/** What other processes write late, such as the usage of the last minute, and the difference of the clocks. */
const overlapMs = 240_000;

interface DeletedProjectsOptions {
  readonly projects: Pick<Projects, 'deletedSince'>;
  readonly documents: Pick<ProjectDocuments, 'delete'>;
  /** Called with a project whose images are to be deleted; again and again for the same one. */
  readonly onDeleted: (project: Project) => void;
  readonly log: Pick<Logger, 'warn'>;
  readonly signal: AbortSignal;
  /** Pause between two looks, in ms; `everyMs` if absent. */
  readonly pauseMs?: number;
}

/**
 * Completes deletions until the signal: deletes the documents of deleted projects, also when the process that deleted
 * a project was killed in between, and those that another process wrote afterwards. Each machine does so, which is
 * repeatable. Never rejects.
 */
export function completeDeletions(options: DeletedProjectsOptions): Promise<void> {
  const { projects, documents, onDeleted, log, signal, pauseMs = everyMs } = options;
  return readRepeatedly({
    everyMs: pauseMs,
    overlapMs,
    signal,
    read: async (since) => {
      for (const project of await projects.deletedSince(since)) {
        // What remains is completed after the next start.
        if (signal.aborted) return;
        onDeleted(project);
        await documents.delete(project._id);
      }
    },
    onError: async (error) => {
      // Loaded late, because the primary forks before it loads the driver.
      const { isOutage } = await import('../../store/outage.ts');
      if (isOutage(error) || signal.aborted) return;
      log.warn({ err: error }, 'deleted projects could not be completed');
    },
  });
}
