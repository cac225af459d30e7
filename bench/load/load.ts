import { readOutput, script } from '../servers/launch.ts';
import type { LoadClass, LoadPlan } from './plan.ts';
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
