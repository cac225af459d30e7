import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import type { Db } from 'mongodb';

/** The name of prewarm jobs in the queue. */
export const prewarmJobName = 'prewarm';

/** One source to warm, in every combination of widths and formats. */
export interface PrewarmJob {
  readonly projectId: string;
  readonly source: string;
  /** CSS pixels; empty for the project's own width. */
  readonly widths: readonly number[];
  readonly formats: readonly string[];
  /** Null leaves it to the project, here and below. */
  readonly quality: number | null;
  readonly fit: string | null;
  readonly dpr: number | null;
}

const reconnectEveryMs = 1_000;

/** Agenda begins to connect when it is made and lets a failure of that go unhandled. */
class PatientBackend extends MongoBackend {
  #stopped = false;

  override async connect(): Promise<void> {
    while (!this.#stopped) {
      try {
        return await super.connect();
      } catch {
        await sleep(reconnectEveryMs, undefined, { ref: false });
      }
    }
  }

  override async disconnect(): Promise<void> {
    this.#stopped = true;
    await super.disconnect();
  }
}

/** The queue of prewarm jobs, as those who put work into it see it. */
export class JobQueue {
  readonly #agenda: Agenda;

  constructor(db: Db) {
    this.#agenda = new Agenda({
      backend: new PatientBackend({ mongo: db, collection: 'jobs', logCollection: 'jobLogs' }),
    });
  }

  /**
   * Queues jobs; the same work that still waits is not queued again. Two who queue it in the same
   * instant may both succeed where the server does not serialise upserts; doing it twice does no
   * harm.
   */
  async add(jobs: readonly PrewarmJob[]): Promise<void> {
    await this.#agenda.ready;
    for (const job of jobs) {
      const fingerprint = createHash('sha256').update(JSON.stringify(job)).digest('hex');
      await this.#agenda
        .create(prewarmJobName, { ...job, fingerprint })
        .unique(
          { 'data.fingerprint': fingerprint, lockedAt: null, lastFinishedAt: null },
          { insertOnly: true },
        )
        .schedule(new Date())
        .save();
    }
  }
}
