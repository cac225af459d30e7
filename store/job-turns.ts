import type { Filter } from 'mongodb';
import { epoch, type JobDocument, type Jobs, type PrewarmJob, requeue } from './waiting-jobs.ts';

/**
 * Self-clocked fair queuing for due jobs of a kind (Golestani, "A self-clocked fair queueing scheme
 * for broadband applications", INFOCOM 1994): workers take jobs by ascending `turn`. A project's
 * next job gets the turn of its last job plus the job's variant count, or plus 1 for a webhook; a
 * project without waiting jobs starts at the lowest turn overall. So every project gets the same
 * number of variants or webhooks, however many jobs another project has queued.
 */

/** Maximum of delayed jobs that get their turns at once. */
const batchSize = 50;

const minWindow = 8;

/** The turns of a kind's jobs. */
export class JobTurns {
  readonly #jobs: Jobs;
  readonly #name: string;
  #lowest = 0;
  #window = minWindow;

  constructor(jobs: Jobs, name: string) {
    this.#jobs = jobs;
    this.#name = name;
  }

  /**
   * Finds the job with the lowest turn. Queries a window of turns above the previous lowest turn,
   * then a larger window if the first is empty: some servers (DocumentDB) sort all jobs that a
   * filter selects, even with an index in that order.
   *
   * @param first finds (and can update) the first job by turn; returns it as it was stored
   * @param among limits the jobs
   */
  async findLowest(
    first: (filter: Filter<JobDocument>) => Promise<JobDocument | null>,
    among: Filter<JobDocument> = {},
  ): Promise<JobDocument | null> {
    const enabled = { name: this.#name, disabled: { $ne: true }, ...among };
    for (;;) {
      const job = await first({ ...enabled, turn: { $gte: 0, $lte: this.#lowest + this.#window } });
      if (job !== null) {
        this.#lowest = job.turn ?? 0;
        this.#window = Math.max(minWindow, Math.floor(this.#window * (15 / 16)));
        return job;
      }
      const other = await this.#jobs.findOne({ ...enabled, turn: { $gte: 0 } });
      if (other === null) return null;
      this.#window = Math.max(this.#window, (other.turn ?? 0) - this.#lowest);
    }
  }

  /** The turn of a project's last job, or else the lowest turn of all. */
  async last(projectId: string, lowest = this.#lowestTurn()): Promise<number> {
    const own = { 'data.projectId': projectId, name: this.#name, turn: { $gte: 0 } };
    const last = this.#jobs.findOne(own, { sort: { turn: -1 } });
    return Math.max(...(await Promise.all([lowest, last.then((job) => job?.turn ?? 0)])));
  }

  async #lowestTurn(): Promise<number> {
    const first = (filter: Filter<JobDocument>) =>
      this.#jobs.findOne(filter, { sort: { turn: 1 } });
    return (await this.findLowest(first))?.turn ?? 0;
  }

  /**
   * Assigns turns to due jobs that lack them: webhooks, retried jobs, and jobs that an operator has
   * scheduled in the workbench. Assigns all in one call, because the locks of claimed jobs age
   * meanwhile.
   * @returns their number; more jobs can be due
   */
  async assignDue(now: Date): Promise<number> {
    const waiting = { name: this.#name, turn: null, lockedAt: null };
    const due = await this.#jobs
      .find({ ...waiting, nextRunAt: { $gt: epoch, $lte: now } })
      .sort({ nextRunAt: 1 })
      .limit(batchSize)
      .toArray();
    if (due.length === 0) return 0;
    const lowest = this.#lowestTurn();
    // Operators can create jobs with any data in the workbench.
    const projectIds = new Set(due.map(({ data }) => data?.projectId));
    const assigned = [...projectIds].map(async (projectId) => {
      const own = due.filter(({ data }) => data?.projectId === projectId);
      const data = own.map((job) => job.data);
      const turns = turnsAfter(await this.last(projectId, lowest), data);
      const queued = own.map((job, i) => {
        const unchanged = { ...waiting, _id: job._id, nextRunAt: { $gt: epoch } };
        return requeue(this.#jobs, unchanged, job, { turn: turns[i] ?? 0 });
      });
      await Promise.all(queued);
    });
    await Promise.all(assigned);
    return due.length;
  }
}

/** Returns turns for a project's jobs, in order. */
export function turnsAfter(last: number, jobs: readonly PrewarmJob[]): number[] {
  let turn = last;
  return jobs.map((job) => {
    // Operators can create jobs with any data in the workbench.
    const { variants = [] }: Partial<PrewarmJob> = job ?? {};
    turn += Math.max(1, variants.length);
    return turn;
  });
}
