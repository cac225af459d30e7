import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';

/** The outcome of one request. */
export interface FleetResponse {
  readonly variant: number;
  /** 0 if no complete response arrived. */
  readonly status: number;
  /** `X-Cache`. */
  readonly tier: string;
  /** The machine that answered. */
  readonly machine: string;
  readonly etag: string;
  /** When it was sent, by `performance.now()`. */
  readonly sentAt: number;
  readonly ms: number;
  /** The body of a response whose status is not 200, or the error of the connection; empty for a success. */
  readonly failure: string;
}

export const isFailed = ({ status }: FleetResponse): boolean => status !== 200;

const timeoutMs = 30_000;

/** Sends requests to one server over persistent connections. */
export class Client {
  readonly #agent = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  readonly #url: string;
  readonly #pathOf: (variant: number) => string;

  /** @param url without a slash at the end */
  constructor(url: string, pathOf: (variant: number) => string) {
    this.#url = url;
    this.#pathOf = pathOf;
  }

  /** Sends a request, and once more if the connection closes before a response, as browsers do (RFC 9110, 9.2.2). */
  async get(variant: number): Promise<FleetResponse> {
    const first = await this.#get(variant);
    return first.failure.includes('other side closed') ? this.#get(variant) : first;
  }

  async #get(variant: number): Promise<FleetResponse> {
    const sentAt = performance.now();
    const noResponse = { variant, status: 0, tier: '', machine: '', etag: '', failure: '' };
    try {
      const response = await this.#agent.request({
        origin: this.#url,
        path: this.#pathOf(variant),
        method: 'GET',
      });
      const header = (name: string) => String(response.headers[name] ?? '');
      const [tier, machine, etag] = ['x-cache', 'x-machine', 'etag'].map(header);
      const failure = response.statusCode === 200 ? '' : await response.body.text();
      if (failure === '') await response.body.dump({ limit: 2 ** 30 });
      const headers = { tier: tier ?? '', machine: machine ?? '', etag: etag ?? '' };
      const ms = performance.now() - sentAt;
      return { variant, status: response.statusCode, ...headers, failure, sentAt, ms };
    } catch (error) {
      return { ...noResponse, failure: String(error), sentAt, ms: performance.now() - sentAt };
    }
  }

  /**
   * Requests each variant once, by several concurrent clients.
   * @param onAnswer called with the number of responses so far
   */
  async all(
    variants: readonly number[],
    clients: number,
    onAnswer: (count: number) => void = () => {},
  ): Promise<FleetResponse[]> {
    const answers: FleetResponse[] = [];
    let next = 0;
    const run = async () => {
      for (let variant = variants[next++]; variant !== undefined; variant = variants[next++]) {
        answers.push(await this.get(variant));
        onAnswer(answers.length);
      }
    };
    await Promise.all(Array.from({ length: clients }, run));
    return answers;
  }

  /** Requests variants at a fixed rate, without waiting for earlier responses, until the signal aborts. */
  async atRate(
    perSecond: number,
    next: () => number,
    signal: AbortSignal,
  ): Promise<FleetResponse[]> {
    const answers: Promise<FleetResponse>[] = [];
    const startedAt = performance.now();
    while (!signal.aborted) {
      const dueAt = startedAt + (1_000 * answers.length) / perSecond;
      await sleep(Math.max(0, dueAt - performance.now()));
      answers.push(this.get(next()));
    }
    return Promise.all(answers);
  }

  close(): Promise<void> {
    return this.#agent.close();
  }
}
