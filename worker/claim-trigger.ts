import type { JobNotification, NotificationChannel, NotificationHandler } from 'agenda';
import { toJobId } from 'agenda';

/** Makes an Agenda claim jobs immediately instead of at its next poll, as if it were notified of a new job. */
export class ClaimTrigger implements NotificationChannel {
  readonly state = 'connected';
  /** The kinds of jobs that are to be claimed. */
  readonly #wanted = new Set<string>();
  #handler: NotificationHandler | null = null;
  #claiming: Promise<void> | null = null;

  /**
   * Claims as many jobs of a kind as may run. Calls during a claim cause one more claim after it: concurrent
   * claims would exceed the limit together.
   */
  async claim(jobName: string): Promise<void> {
    this.#wanted.add(jobName);
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
    });
    await this.#claiming;
  }

  async #claim(): Promise<void> {
    // Also those that are added meanwhile.
    for (const jobName of this.#wanted) {
      this.#wanted.delete(jobName);
      const timestamp = new Date();
      const job = { jobId: toJobId(''), jobName, nextRunAt: null, priority: 0 };
      await this.publish({ ...job, timestamp });
    }
  }

  async connect(): Promise<void> {}

  async disconnect(): Promise<void> {}

  subscribe(handler: NotificationHandler): () => void {
    this.#handler = handler;
    return () => {
      this.#handler = null;
    };
  }

  async publish(notification: JobNotification): Promise<void> {
    await this.#handler?.(notification);
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }
}
