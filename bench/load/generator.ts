import { constants, setPriority } from 'node:os';
import { setImmediate as nextEventLoopTurn, setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { LoadClass, LoadPlan } from './plan.ts';
import { seeded } from './random.ts';
import { createRequests, type PlannedRequest } from './requests.ts';
import { type ClassResult, computeResult, type Finished, toOutcome } from './results.ts';

/** The maximum length of a class with `atLeast`, in multiples of its length. */
const maxExtension = 5;
/** Requests to send before reading responses again. */
const batch = 64;

export interface Sending {
  /** The next request; null when there are no more. */
  readonly next: () => PlannedRequest | null;
  /**
   * Open loop: requests per second, and when the first is due; closed loop: the number of clients.
   * Times are `performance.now()` ms.
   */
  readonly pace:
    | { readonly rate: number; readonly firstDueAt: number }
    | { readonly clients: number };
  /** Returns whether to send a request due at a time. */
  readonly continues: (dueAt: number) => boolean;
  readonly onFinished?: (request: Finished) => void;
}

/** The sent requests in order of completion, and when the first client of a closed loop stopped. */
interface Sent {
  readonly finished: readonly Finished[];
  readonly stoppedAt: number;
}

/**
 * Raises this process's priority, if permitted. A service's clients run on separate processors: any
 * delay that the service's threads cause here would count as the service's latency.
 */
export function raisePriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
  } catch {
    // Only root can raise it. The report includes the delays in any case.
  }
}

/** Measures how late this process reads responses: a timer is late when other work or another process delays it. */
class ReadDelay {
  readonly #everyMs = 1;
  readonly #timer: NodeJS.Timeout;
  #lastAt = performance.now();
  #beforeAt = this.#lastAt;

  constructor() {
    this.#timer = setInterval(() => {
      this.#beforeAt = this.#lastAt;
      this.#lastAt = performance.now();
    }, this.#everyMs).unref();
  }

  /** Returns how long a response read now can have waited, in ms, beyond the timer's resolution. */
  at(now: number): number {
    return Math.max(0, now - this.#beforeAt - 2 * this.#everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Sends requests over persistent connections, and opens as many as needed. */
export class Generator {
  readonly #agent: Agent;
  readonly #readDelay = new ReadDelay();

  constructor(timeoutS = 15) {
    const timeoutMs = 1_000 * timeoutS;
    this.#agent = new Agent({
      connections: null,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 60_000,
    });
  }

  /** Resolves when every request has received a response or failed. */
  async send({ next, pace, continues, onFinished = () => {} }: Sending): Promise<Sent> {
    const finished: Finished[] = [];
    const sendOne = async (planned: PlannedRequest, dueAt: number) => {
      const response = await this.#get(planned, dueAt);
      finished.push(response);
      onFinished(response);
    };
    let stoppedAt = Number.POSITIVE_INFINITY;
    if ('clients' in pace) {
      const client = async () => {
        for (let now = performance.now(); continues(now); now = performance.now()) {
          const planned = next();
          if (planned === null) break;
          await sendOne(planned, now);
        }
        stoppedAt = Math.min(stoppedAt, performance.now());
      };
      await Promise.all(Array.from({ length: pace.clients }, client));
      return { finished, stoppedAt };
    }
    const open: Promise<void>[] = [];
    for (let dueAt = pace.firstDueAt; continues(dueAt); ) {
      while (performance.now() < dueAt) await sleep(Math.max(0, dueAt - performance.now()));
      if (open.length % batch === 0) await nextEventLoopTurn();
      const planned = next();
      if (planned === null) break;
      open.push(sendOne(planned, dueAt));
      dueAt = pace.firstDueAt + (1_000 * open.length) / pace.rate;
    }
    await Promise.all(open);
    return { finished, stoppedAt };
  }

  /** Sends a request, and once more if the connection closes before a response, as browsers do (RFC 9110, 9.2.2). */
  async #get(planned: PlannedRequest, dueAt: number): Promise<Finished> {
    const first = await this.#getOnce(planned, dueAt);
    return first.failure === 'UND_ERR_SOCKET' ? this.#getOnce(planned, dueAt) : first;
  }

  /** Uses `dispatch` instead of `request` of undici, which allocates more. */
  #getOnce({ number, origin, path, headers }: PlannedRequest, dueAt: number): Promise<Finished> {
    let [status, bytes, cache, etag, machine] = [0, 0, '', '', ''];
    let sentAt = Number.NaN;
    return new Promise((resolve) => {
      const finish = (failure: string) => {
        const endAt = performance.now();
        if (failure !== '') status = 0;
        const ownMs = (sentAt || endAt) - dueAt + this.#readDelay.at(endAt);
        resolve({ number, dueAt, endAt, ownMs, status, cache, etag, machine, bytes, failure });
      };
      this.#agent.dispatch(
        { origin, path, method: 'GET', headers: { ...headers } },
        {
          onRequestStart() {
            sentAt = performance.now();
          },
          onResponseStart(_controller, statusCode, received) {
            status = statusCode;
            cache = String(received['x-cache'] ?? '');
            etag = String(received['etag'] ?? '');
            machine = String(received['x-machine'] ?? '');
          },
          onResponseData(_controller, chunk) {
            bytes += chunk.length;
          },
          onResponseEnd: () => finish(''),
          onResponseError(_controller, error) {
            finish('code' in error ? String(error.code) : error.name);
          },
        },
      );
    });
  }

  close(): Promise<void> {
    this.#readDelay.close();
    return this.#agent.destroy();
  }
}

/** Runs a plan to its end, in this process. @returns the results of the classes, in their order */
export async function runPlan(plan: LoadPlan): Promise<ClassResult[]> {
  const generator = new Generator(plan.timeoutS);
  const beganAt = performance.now();
  const runs = plan.classes.map((planned, index) => {
    const next = createRequests(planned, seeded((plan.seed ?? 1) + 1_000 * index));
    return runClass(generator, plan, planned, next, beganAt);
  });
  const results = await Promise.all(runs);
  await generator.close();
  return results;
}

async function runClass(
  generator: Generator,
  plan: LoadPlan,
  planned: LoadClass,
  next: () => PlannedRequest,
  beganAt: number,
): Promise<ClassResult> {
  const firstAt = beganAt + 1_000 * (planned.fromS ?? 0);
  const lastAt = beganAt + 1_000 * (planned.untilS ?? plan.seconds);
  const fromAt = beganAt + 1_000 * (plan.warmupS ?? 0);
  await sleep(firstAt - performance.now());
  const generatorCores = coresFromNow();
  if ('rate' in planned) {
    const continues = (dueAt: number) => dueAt < lastAt;
    // A late timer delays requests, but does not leave any out.
    const pace = { rate: planned.rate, firstDueAt: firstAt };
    const { finished } = await generator.send({ next, pace, continues });
    const counted = computeResult(finished, {
      beganAt,
      fromAt,
      untilAt: lastAt,
      isClosedLoop: false,
    });
    return { ...counted, generatorCores: generatorCores() };
  }
  const { requests = Number.POSITIVE_INFINITY, atLeast = 0 } = planned;
  const latestAt = firstAt + maxExtension * (lastAt - firstAt);
  let [sent, images] = [0, 0];
  const { finished, stoppedAt } = await generator.send({
    next: () => (sent++ < requests ? next() : null),
    pace: planned,
    continues: (now) => now < lastAt || (images < atLeast && now < latestAt),
    onFinished(response) {
      if (response.endAt >= fromAt && ['hit', 'miss'].includes(toOutcome(response))) images += 1;
    },
  });
  // The remaining responses come from a machine with less load.
  const counted = computeResult(finished, {
    beganAt,
    fromAt,
    untilAt: stoppedAt,
    isClosedLoop: true,
  });
  return { ...counted, generatorCores: generatorCores() };
}

/** Returns a function that reports this process's average processor use since the call. */
function coresFromNow(): () => number {
  const [before, since] = [process.cpuUsage(), performance.now()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / (performance.now() - since);
  };
}
