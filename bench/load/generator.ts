import { setImmediate as nextEventLoopTurn, setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { ClosedClass, LoadClass, LoadPlan, LoadResult, OpenClass } from './plan.ts';
import { seeded } from './random.ts';
import { type Finished, Recorder } from './recorder.ts';
import { type PlannedRequest, requestsOf } from './requests.ts';

const timeoutMs = 30_000;
const defaultDrainS = 10;
/** With more open requests, the measurement would depend on the generator's memory. */
const maxOpen = 20_000;
/** The maximum length of a class with `atLeast`, in multiples of its length. */
const maxExtension = 5;
/** Number of requests that are sent before responses are read again. */
const batch = 64;

/** Runs a plan to its end, in this process. */
export async function runPlan(plan: LoadPlan): Promise<LoadResult> {
  const agent = new Agent({
    connections: null,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 60_000,
  });
  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;
  const runs = plan.classes.map((planned, index) => new Run(planned, index, plan, agent, now));
  await Promise.all(runs.map((run) => run.sent));
  await Promise.race([
    Promise.all(runs.map((run) => run.finished())),
    sleep((plan.drainS ?? defaultDrainS) * 1_000, undefined, { ref: false }),
  ]);
  const results = runs.map((run) => [run.name, run.result()] as const);
  await agent.destroy();
  return Object.fromEntries(results);
}

type Response = Omit<Finished, 'dueMs' | 'endMs'>;
const noResponse: Response = { status: 0, cache: undefined, bytes: 0 };

const isOpen = (planned: LoadClass): planned is OpenClass => 'rate' in planned;

/** The requests of one class. */
class Run {
  readonly name: string;
  /** Resolves when the last request was sent; in a closed loop when it has a response. */
  readonly sent: Promise<void>;
  readonly #isOpen: boolean;
  readonly #agent: Agent;
  readonly #now: () => number;
  readonly #recorder: Recorder;
  readonly #next: () => PlannedRequest;
  readonly #fromMs: number;
  readonly #untilMs: number;
  /** The due times of open requests, by serial number. */
  readonly #open = new Map<number, number>();
  #serial = 0;
  #onAllFinished: () => void = () => {};

  constructor(planned: LoadClass, index: number, plan: LoadPlan, agent: Agent, now: () => number) {
    this.name = planned.name;
    this.#isOpen = isOpen(planned);
    this.#agent = agent;
    this.#now = now;
    this.#next = requestsOf(planned, seeded((plan.seed ?? 1) + 1_000 * index));
    this.#fromMs = (planned.fromS ?? 0) * 1_000;
    this.#untilMs = (planned.untilS ?? plan.seconds) * 1_000;
    this.#recorder = new Recorder({
      warmupMs: (plan.warmupS ?? 0) * 1_000,
      endMs: this.#untilMs,
      keepSamples: planned.keepSamples ?? false,
    });
    this.sent = isOpen(planned) ? this.#sendOpenLoop(planned) : this.#sendClosedLoop(planned);
  }

  /** Resolves when no request is open. */
  async finished(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onAllFinished = resolve;
    });
  }

  /** Requests that are still open count as failed. */
  result() {
    const endMs = this.#now();
    for (const dueMs of this.#open.values()) {
      this.#recorder.add({ dueMs, endMs, ...noResponse, failure: 'open' });
    }
    return this.#recorder.result(!this.#isOpen);
  }

  async #sendOpenLoop({ rate }: OpenClass): Promise<void> {
    const count = Math.floor(((this.#untilMs - this.#fromMs) / 1_000) * rate);
    for (let number = 0; number < count; number++) {
      const dueMs = this.#fromMs + (1_000 * number) / rate;
      while (this.#now() < dueMs) await sleep(Math.max(0, dueMs - this.#now()));
      if (number % batch === 0) await nextEventLoopTurn();
      if (this.#open.size < maxOpen) void this.#send(dueMs);
      else {
        this.#recorder.add({ dueMs, endMs: this.#now(), ...noResponse, failure: 'not sent' });
      }
    }
  }

  async #sendClosedLoop({ clients, requests, atLeast }: ClosedClass): Promise<void> {
    if (this.#fromMs > 0) await sleep(this.#fromMs);
    const latestMs = this.#fromMs + maxExtension * (this.#untilMs - this.#fromMs);
    const continues = () => {
      if (requests !== undefined && this.#serial >= requests) return false;
      if (this.#now() < this.#untilMs) return true;
      return this.#recorder.arrived < (atLeast ?? 0) && this.#now() < latestMs;
    };
    if (atLeast !== undefined) this.#recorder.endMs = latestMs;
    const client = async () => {
      while (continues()) await this.#send(this.#now());
      // The remaining responses come from a machine with less load.
      if (atLeast !== undefined) this.#recorder.endMs = this.#now();
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  #send(dueMs: number): Promise<void> {
    const serial = this.#serial++;
    this.#open.set(serial, dueMs);
    return new Promise((resolve) => {
      const finish = (response: Response) => {
        if (!this.#open.delete(serial)) return;
        this.#recorder.add({ dueMs, endMs: this.#now(), ...response });
        if (this.#open.size === 0) this.#onAllFinished();
        resolve();
      };
      request(this.#agent, this.#next(), finish);
    });
  }
}

/** Uses `dispatch` instead of `request` of undici, which allocates more. */
function request(
  agent: Agent,
  { origin, path, headers }: PlannedRequest,
  finish: (response: Response) => void,
): void {
  let status = 0;
  let cache: string | undefined;
  let bytes = 0;
  agent.dispatch(
    { origin, path, method: 'GET', headers: { ...headers } },
    {
      onRequestStart() {},
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode;
        cache = [responseHeaders['x-cache']].flat()[0];
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
      },
      onResponseEnd: () => finish({ status, cache, bytes }),
      onResponseError(_controller, error) {
        const code = 'code' in error ? String(error.code) : error.name;
        finish({ status: 0, cache, bytes, failure: code });
      },
    },
  );
}
