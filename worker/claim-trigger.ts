import type { JobNotification, NotificationChannel, NotificationHandler } from 'agenda';
import { toJobId } from 'agenda';

/**
 * Makes an Agenda claim jobs at once, and not with its next poll. It is a channel for notifications of
 * new jobs, which Agenda answers so; it stays within the process.
 */
export class ClaimTrigger implements NotificationChannel {
  readonly state = 'connected';
  readonly #jobName: string;
  #handler: NotificationHandler | null = null;
  #claiming: Promise<void> | null = null;
  #again = false;

  constructor(jobName: string) {
    this.#jobName = jobName;
  }

  /**
   * Claims as many jobs as may run. Calls during a claim are answered by one more: claims at the same
   * time would together exceed the limit, and be undone.
   */
  async claim(): Promise<void> {
    this.#again = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
    });
    await this.#claiming;
  }

  async #claim(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const timestamp = new Date();
      const job = { jobId: toJobId(''), jobName: this.#jobName, nextRunAt: null, priority: 0 };
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
