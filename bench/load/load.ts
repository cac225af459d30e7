import { outputOf, script } from '../servers/launch.ts';
import type { ClassResult, LoadClass, LoadPlan, LoadResult } from './plan.ts';

/**
 * Runs a plan in its own process.
 * @param cpus the processors that it may use, as taskset lists them; all when null
 */
export const load = async (plan: LoadPlan, cpus: string | null = null): Promise<LoadResult> =>
  JSON.parse(
    await outputOf(script('./main', import.meta.url), cpus, { input: JSON.stringify(plan) }),
  );

/** Runs a plan of one class. */
export async function loadOne(
  planned: LoadClass,
  plan: Omit<LoadPlan, 'classes'>,
  cpus: string | null = null,
): Promise<ClassResult> {
  return resultOf(await load({ ...plan, classes: [planned] }, cpus), planned.name);
}

/** The result of a class of the plan. */
export function resultOf(result: LoadResult, name: string): ClassResult {
  const found = result[name];
  if (found === undefined) throw new Error(`the plan has no ${name}`);
  return found;
}

/** Requests each of the first `count` URLs once, from the first. */
export async function requestOnce(url: string, count: number): Promise<void> {
  await loadOne(
    { name: 'warm', url, first: 0, count, clients: 8, requests: count },
    { seconds: 300 },
  );
}
