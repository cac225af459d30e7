import { outputOf, script } from '../servers/launch.ts';
import type { ClassResult, LoadResult, Plan } from './plan.ts';

/**
 * Runs a plan in its own process.
 * @param cpus the processors that it may use, as taskset lists them; all when null
 */
export const load = async (plan: Plan, cpus: string | null = null): Promise<LoadResult> =>
  JSON.parse(
    await outputOf(script('./main', import.meta.url), cpus, { input: JSON.stringify(plan) }),
  );

/** The result of a class of the plan. */
export function ofClass(result: LoadResult, name: string): ClassResult {
  const found = result[name];
  if (found === undefined) throw new Error(`the plan has no ${name}`);
  return found;
}

/** Requests each of the first `count` URLs once, from the first. */
export async function warm(url: string, count: number): Promise<void> {
  const planned = { name: 'warm', url, first: 0, count, clients: 8, requests: count };
  await load({ seconds: 300, classes: [planned] });
}
