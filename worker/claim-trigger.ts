import type { JobNotification, NotificationChannel, NotificationHandler } from 'agenda';
import { toJobId } from 'agenda';

/**
 * Makes an Agenda claim jobs immediately instead of at its next poll, like a notification of a new
 * job.
 */
export class ClaimTrigger implements NotificationChannel {
  readonly state = 'connected';
  /** Job kinds waiting for a claim. */
  readonly #wanted = new Set<string>();
  #handler: NotificationHandler | null = null;
  #claiming: Promise<void> | null = null;

  /**
   * Claims as many jobs of a kind as can run. Calls during a claim cause a single additional claim
   * afterwards, because concurrent claims would together exceed the limit.
   */
  async claim(jobName: string): Promise<void> {
    this.#wanted.add(jobName);
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
    });
    await this.#claiming;
  }

  async #claim(): Promise<void> {
    // Includes kinds added during the loop.
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
