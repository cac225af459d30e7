/** The plan of the load generator. */

export interface Requests {
  /** `{n}` is replaced by a number. */
  readonly url: string;
  /** The first number. */
  readonly first: number;
  /** The count of numbers; without it each request has another number. */
  readonly count?: number;
  /** With a count: draws in Zipf order with this exponent. Without it the numbers take turns. */
  readonly zipf?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AnyClass extends Requests {
  /** The start and end of the class, in seconds from the start of the plan; by default those of the plan. */
  readonly fromS?: number;
  readonly untilS?: number;
}

/** Open loop: requests are due at a fixed rate, whether or not earlier ones have a response. */
interface OpenClass extends AnyClass {
  /** Requests per second. */
  readonly rate: number;
}

/** Closed loop: each client sends a request after the response to its last one. */
interface ClosedClass extends AnyClass {
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
  /** Requests without a response fail after this time, 15 s by default. */
  readonly timeoutS?: number;
  readonly seed?: number;
  readonly classes: readonly LoadClass[];
}
