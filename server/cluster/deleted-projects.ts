import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import type { ProjectDocuments } from '../../store/project-documents.ts';
import type { Project, Projects } from '../../store/projects.ts';

const everyMs = 30_000;
/** Deleted projects are remembered so long. */
const rememberedMs = 24 * 60 * 60 * 1_000;
/**
 * What other processes write late, such as the usage of the last minute. It includes the difference of the clocks,
 * because the times of deletions are those of other machines.
 */
const lateMs = 240_000;

export interface DeletedProjectsOptions {
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
 * Completes deletions: deletes the documents of deleted projects, also when the process that deleted a project was
 * killed in between, and those that another process wrote afterwards. Each machine does so, which is repeatable.
 */
export class DeletedProjects {
  readonly #options: DeletedProjectsOptions;
  /** After a start all are looked at, because this machine may have been off. */
  #since = Date.now() - rememberedMs;

  constructor(options: DeletedProjectsOptions) {
    this.#options = options;
  }

  /** Looks for them now, and again and again until the signal. Never rejects. */
  async start(): Promise<void> {
    const { signal, log, pauseMs = everyMs } = this.#options;
    while (!signal.aborted) {
      // During an outage of the store, the next one begins where the last one has ended.
      await this.#complete().catch(async (error: unknown) => {
        // Loaded late, because the primary forks before it loads the driver.
        const { isOutage } = await import('../../store/outage.ts');
        if (isOutage(error) || signal.aborted) return;
        log.warn({ err: error }, 'deleted projects could not be completed');
      });
      await sleep(pauseMs, null, { signal }).catch(() => {});
    }
  }

  async #complete(): Promise<void> {
    const { projects, documents, onDeleted, signal } = this.#options;
    const begunAt = Date.now();
    for (const project of await projects.deletedSince(new Date(this.#since))) {
      if (signal.aborted) return;
      onDeleted(project);
      await documents.delete(project._id);
    }
    this.#since = begunAt - lateMs;
  }
}
