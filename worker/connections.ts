import { Client } from 'undici';

/** Background requests may wait for a transform thread. */
const requestTimeoutMs = 5 * 60_000;
/**
 * A connection is used by the jobs that start within this time. Opening one for each job would take longer
 * than a job whose variants are cached; permanent ones would send all jobs to a few front ends.
 */
const reuseWithinMs = 1_000;

export interface ServiceConnection {
  readonly client: Client;
  /** Path of the service URL, without a slash at the end. */
  readonly basePath: string;
  /** Must be called at the end of a job. */
  done(outcome: 'reusable' | 'broken'): Promise<void>;
}

/** Connections to the service, each for one job at a time. */
export class ServiceConnections {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #idle: { readonly client: Client; readonly openedAt: number }[] = [];

  constructor(serviceUrl: string) {
    const { origin, pathname } = new URL(serviceUrl);
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
  }

  take(): ServiceConnection {
    const { client, openedAt } = this.#takeIdle() ?? this.#open();
    return {
      client,
      basePath: this.#basePath,
      done: async (outcome) => {
        if (outcome === 'reusable' && performance.now() - openedAt < reuseWithinMs) {
          this.#idle.push({ client, openedAt });
        } else await client.destroy();
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(({ client }) => client.destroy()));
  }

  #takeIdle() {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (performance.now() - idle.openedAt < reuseWithinMs) return idle;
      void idle.client.destroy();
    }
    return null;
  }

  #open() {
    const client = new Client(this.#origin, {
      pipelining: 1,
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    });
    return { client, openedAt: performance.now() };
  }
}
