import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';

/** An outage of the store may begin with a purge; after a long one, nobody waits for the report. */
const attempts = 10;
const pauseMs = 1_000;

interface Deletion {
  readonly number: number;
  readonly images: number;
}

/** Notes in the store what this machine has deleted for purges, one project after the other. */
export class DeletionReports {
  readonly #purges: Pick<PurgeRecords, 'deleted'>;
  readonly #log: Logger;
  /** By project. */
  readonly #pending = new Map<string, Deletion>();
  #running = false;

  constructor(purges: Pick<PurgeRecords, 'deleted'>, log: Logger) {
    this.#purges = purges;
    this.#log = log;
  }

  /** @param number of the last purge whose images are deleted */
  add(projectId: string, number: number, images: number): void {
    const before = this.#pending.get(projectId)?.images ?? 0;
    this.#pending.set(projectId, { number, images: before + images });
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (const [projectId, deletion] of this.#pending) {
      this.#pending.delete(projectId);
      await this.#report(projectId, deletion);
    }
    this.#running = false;
  }

  async #report(projectId: string, { number, images }: Deletion): Promise<void> {
    const machine = { name: hostname(), images, deletedAt: new Date() };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#purges.deleted(projectId, number, machine);
      } catch (error) {
        if (attempt === attempts) {
          return this.#log.warn({ project: projectId, err: error }, 'a purge was not reported');
        }
        await sleep(attempt * pauseMs, null, { ref: false });
      }
    }
  }
}
