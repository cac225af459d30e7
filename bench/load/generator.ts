import { constants, setPriority } from 'node:os';
import { setImmediate as nextEventLoopTurn, setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { LoadClass, LoadPlan, Requests } from './load.ts';
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

export interface PlannedRequest {
  readonly number: number;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Generates a class's requests. */
export function createRequests(planned: Requests, random: Random): () => PlannedRequest {
  const { url, first, count, zipf: exponent, headers = {} } = planned;
  const draw = count === undefined || exponent === undefined ? null : zipf(count, exponent, random);
  let sent = 0;
  return () => {
    const number = first + (draw?.() ?? (count === undefined ? sent : sent % count));
    sent += 1;
    return { ...target(url, number), headers };
  };
}

/** The number in a template of URLs; without a URL parser, which would normalise the path. */
export function target(template: string, number: number): Omit<PlannedRequest, 'headers'> {
  const url = template.replaceAll('{n}', String(number));
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  return { number, origin: url.slice(0, pathStart), path: url.slice(pathStart) };
}

/** Pseudo-random numbers of a seed. */
export interface Random {
  /** 0 <= x < 1. */
  fraction(): number;
  /** An integer, 0 <= x < `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** The generator mulberry32 (Tommy Ettinger); 32 bits of state are enough to choose test data. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    pick(choices) {
      const chosen = choices[below(choices.length)];
      if (chosen === undefined) throw new RangeError('nothing to choose from');
      return chosen;
    },
  };
}

/**
 * Draws 0 to `count - 1`, with the weight 1 / r^exponent for rank r (from 1): Zipf's law, which
 * requests for web objects follow with exponents between 0.6 and 0.9 (Breslau et al., "Web caching
 * and Zipf-like distributions", INFOCOM 1999).
 */
export function zipf(count: number, exponent: number, random: Random): () => number {
  const cumulative = new Float64Array(count);
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) {
    sum += rank ** -exponent;
    cumulative[rank - 1] = sum;
  }
  return () => {
    const drawn = random.fraction() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) <= drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
