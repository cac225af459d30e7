import { readOutput, script } from '../servers/launch.ts';
import { type ClassResult, type Outcome, outcomes } from './results.ts';

/**
 * Runs a plan in a separate process.
 * @param cpus processors to use, in taskset's format; null for all
 * @returns the classes' results, in order
 */
export async function load<const Classes extends readonly LoadClass[]>(
  plan: Omit<LoadPlan, 'classes'> & { readonly classes: Classes },
  cpus: string | null = null,
): Promise<{ readonly [Index in keyof Classes]: ClassResult }> {
  const command = script('./main', import.meta.url);
  return JSON.parse(await readOutput(command, cpus, JSON.stringify(plan)));
}

/**
 * Runs a plan with a single class.
 * @param expected the allowed outcomes; all by default
 * @throws for a request with another outcome after the warm-up
 */
export async function loadOne(
  planned: LoadClass,
  plan: Omit<LoadPlan, 'classes'>,
  expected: readonly Outcome[] = outcomes,
  cpus: string | null = null,
): Promise<ClassResult> {
  const [result] = await load({ ...plan, classes: [planned] }, cpus);
  const wrong = outcomes.filter(
    (outcome) => !expected.includes(outcome) && result.counts[outcome] > 0,
  );
  if (wrong.length > 0) {
    throw new Error(`${planned.url}: ${wrong.join(', ')}: ${JSON.stringify(result.statuses)}`);
  }
  return result;
}

/** Requests each of the first `count` URLs, from the first; several times if there are more requests. */
export const requestEach = (url: string, count: number, requests = count): Promise<ClassResult> =>
  loadOne({ url, first: 0, count, clients: 8, requests }, { seconds: 300 }, ['hit', 'miss']);

/** The plan of the load generator. */

export interface Requests {
  /** Each request replaces `{n}` with a number. */
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
  /** The class's start and end, in seconds after the plan's start; default to the plan's. */
  readonly fromS?: number;
  readonly untilS?: number;
}

/** Open loop: requests are due at a fixed rate, regardless of earlier responses. */
interface OpenClass extends AnyClass {
  /** Requests per second. */
  readonly rate: number;
}

/** Closed loop: each client sends a request once its previous response arrives. */
interface ClosedClass extends AnyClass {
  readonly clients: number;
  /** The class ends after this number of requests, all clients together. */
  readonly requests?: number;
  /**
   * The class continues until this many images have arrived after the warm-up, up to five times its
   * length: a rate computed from a few images would depend on where the window ends.
   */
  readonly atLeast?: number;
}

export type LoadClass = OpenClass | ClosedClass;

export interface LoadPlan {
  readonly seconds: number;
  /** Requests due in these first seconds are ignored. */
  readonly warmupS?: number;
  /** Requests fail without a response after this time, 15 s by default. */
  readonly timeoutS?: number;
  readonly seed?: number;
  readonly classes: readonly LoadClass[];
}
