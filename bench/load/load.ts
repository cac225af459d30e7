import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { pinned, script } from '../servers/launch.ts';
import type { ClassResult, LoadResult, Plan } from './plan.ts';

/**
 * Runs a plan in a process of its own.
 * @param cpus the processors that it may use, as taskset lists them; all when null
 */
export async function load(plan: Plan, cpus: string | null = null): Promise<LoadResult> {
  const [program = '', ...args] = pinned(script('./main', import.meta.url), cpus);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(plan));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const result = json(child.stdout).catch(() => null);
  const code = await ended;
  const answer = (await result) as LoadResult | null;
  if (code !== 0 || answer === null) throw new Error(`the load generator ended with ${code}`);
  return answer;
}

/** The result of a class of the plan. */
export function ofClass(result: LoadResult, name: string): ClassResult {
  const found = result[name];
  if (found === undefined) throw new Error(`the plan has no ${name}`);
  return found;
}
