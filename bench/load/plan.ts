/** The plan of a load generator, and its result. */

interface AnyClass {
  readonly name: string;
  /** `{n}` is replaced by a number. */
  readonly url: string;
  /** The first number. */
  readonly first: number;
  /** The count of numbers; without it each request has another number. */
  readonly count?: number;
  /**
   * With a count: draws in Zipf order with this exponent, the first most often, and with 0 all equally
   * often. Without it the numbers take turns.
   */
  readonly zipf?: number;
  /** Replace `{n}` instead of the numbers, which are their indices. */
  readonly words?: readonly string[];
  /** Sent in turn. */
  readonly headers?: ReadonlyArray<Readonly<Record<string, string>>>;
  /** The start and end of the class, in seconds from the start of the plan; by default those of the plan. */
  readonly fromS?: number;
  readonly untilS?: number;
  /** Whether the result has every request, for classes of few requests. */
  readonly keepSamples?: boolean;
}

/** Open loop: requests are due at a fixed rate, whether or not earlier ones have a response. */
export interface OpenClass extends AnyClass {
  /** Requests per second. */
  readonly rate: number;
}

/** Closed loop: each client sends a request after the response to its last one. */
export interface ClosedClass extends AnyClass {
  readonly clients: number;
  /** The class ends after this number of requests, all clients together. */
  readonly requests?: number;
  /**
   * The class continues until this number of images has arrived after the warm-up, for at most five times
   * its length: a rate of a few images would depend on where the window ends.
   */
  readonly atLeast?: number;
}

export type LoadClass = OpenClass | ClosedClass;

export interface LoadPlan {
  readonly seconds: number;
  /** Requests due in these first seconds are not counted. */
  readonly warmupS?: number;
  /** The wait for responses after the end. */
  readonly drainS?: number;
  readonly seed?: number;
  readonly classes: readonly LoadClass[];
}

/**
 * An image from a cache or a rendered one, by the header `X-Cache` (without it: `miss`); 429 or 503; any
 * other status, timeout or lost connection.
 */
export const outcomes = ['hit', 'miss', 'refused', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

/** One request. */
export interface RequestSample {
  /** Since the start of the plan, s. */
  readonly dueS: number;
  readonly latencyMs: number;
  readonly outcome: Outcome;
}

export interface ClassResult {
  /** Of the requests that were due after the warm-up. */
  readonly counts: Readonly<Record<Outcome, number>>;
  /**
   * Images per second after the warm-up: in a closed loop up to the last image, in an open loop those that
   * arrived before the end of the class.
   */
  readonly goodput: number;
  /** Requests with a response, including the warm-up. */
  readonly all: number;
  /** From the due time (open loop) or the sending (closed): histograms of microseconds, encoded. */
  readonly latency: Readonly<Record<Outcome, string>>;
  readonly meanBytes: number;
  /** The number of responses by status and of failures by name. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly samples: readonly RequestSample[];
}

export type LoadResult = Readonly<Record<string, ClassResult>>;
