/** What a load generator is to do, as JSON on its standard input, and what it answers. */

/** Which number takes the place of `{n}` in a URL. */
export interface Numbers {
  /** The first number. */
  readonly first: number;
  /** How many numbers there are; none: each request has a number of its own. */
  readonly count?: number;
  /**
   * With a count: drawn in Zipf order with this exponent, the first most often. 0 draws all equally
   * often; none takes them by turns.
   */
  readonly zipf?: number;
}

interface AnyClass extends Numbers {
  readonly name: string;
  /** With `{n}` for the number. */
  readonly url: string;
  /** What takes the place of `{n}` instead of the number: the word at that index. */
  readonly words?: readonly string[];
  /** Sent by turns. */
  readonly headers?: ReadonlyArray<Readonly<Record<string, string>>>;
  /** When the class begins and ends, in seconds from the start of the plan; all of it when not given. */
  readonly fromS?: number;
  readonly untilS?: number;
  /** Whether the answer holds every request, for classes of few requests. */
  readonly keepSamples?: boolean;
}

/** Requests that are due by the clock, whatever became of those before. */
export interface OpenClass extends AnyClass {
  /** Requests per second. */
  readonly rate: number;
}

/** Clients that each send a request when their last one has been answered. */
export interface ClosedClass extends AnyClass {
  readonly clients: number;
  /** The class ends after as many requests, all clients together. */
  readonly requests?: number;
  /**
   * The class goes on beyond its end until as many images have arrived after the warm-up, but not
   * beyond five times its length: a rate of a few images would depend on where the window ends.
   */
  readonly atLeast?: number;
}

export type LoadClass = OpenClass | ClosedClass;

export interface Plan {
  readonly seconds: number;
  /** What is due in the first seconds is not counted. */
  readonly warmupS?: number;
  /** How long answers are awaited after the end. */
  readonly drainS?: number;
  /** Of one request. */
  readonly timeoutS?: number;
  readonly seed?: number;
  readonly classes: readonly LoadClass[];
}

/**
 * What became of a request: an image from a cache or one that was rendered, as the header `X-Cache` says
 * (without it: `miss`), a refusal with 429 or 503, or another status, a timeout or a lost connection.
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
   * Images per second after the warm-up: of clients up to their last image, otherwise those that arrived
   * while the plan ran.
   */
  readonly goodput: number;
  /** Requests with an answer, those of the warm-up included. */
  readonly all: number;
  /** From the due time (open) or the sending (closed): histograms of microseconds, encoded. */
  readonly latency: Readonly<Record<Outcome, string>>;
  /** How long after its due time the generator itself sent a request, likewise. */
  readonly lateness: string;
  readonly meanBytes: number;
  /** How often each status and each failure occurred. */
  readonly answers: Readonly<Record<string, number>>;
  /** Images that arrived in each second of the plan. */
  readonly perSecond: readonly number[];
  readonly samples: readonly RequestSample[];
}

export type LoadResult = Readonly<Record<string, ClassResult>>;
