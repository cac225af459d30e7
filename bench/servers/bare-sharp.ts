import { outputOf, script } from './launch.ts';
import type { SharpJob, SharpResult } from './sharp-loop.ts';

/** The processes and threads of the loop of sharp. */
export interface Arrangement {
  readonly processes: number;
  /** Transforms at a time, in each process. */
  readonly inFlight: number;
  readonly concurrency: number;
}

export const description = ({ processes, inFlight, concurrency }: Arrangement): string =>
  `${processes} process${processes > 1 ? 'es' : ''} with ${inFlight} at a time and sharp.concurrency(${concurrency})`;

export type BareJob = Omit<SharpJob, 'inFlight' | 'concurrency'>;

/** Runs the loop in all processes of an arrangement. */
export async function runBareSharp(
  job: BareJob,
  { processes, ...each }: Arrangement,
): Promise<SharpResult> {
  const argument = JSON.stringify({ ...job, ...each } satisfies SharpJob);
  const command = [...script('./sharp-loop', import.meta.url), argument];
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, each.inFlight)) };
  const run = async (): Promise<SharpResult> => JSON.parse(await outputOf(command, null, { env }));
  const results = await Promise.all(Array.from({ length: processes }, run));
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    durationsMs: results.flatMap(({ durationsMs }) => durationsMs),
    bytes: results[0]?.bytes ?? 0,
    processorMs: results.reduce((sum, one) => sum + one.processorMs, 0) / results.length,
  };
}

/** Candidates for the fastest arrangement on a machine with this number of cores, the likeliest first. */
export const arrangements = (cores: number): Arrangement[] => [
  { processes: 1, inFlight: cores, concurrency: 1 },
  { processes: cores, inFlight: 1, concurrency: 1 },
  { processes: 1, inFlight: 2 * cores, concurrency: 1 },
  { processes: cores, inFlight: 2, concurrency: 1 },
  { processes: 1, inFlight: cores, concurrency: cores },
];

/** The arrangement with the most transforms per second. */
export async function fastest(job: BareJob, among: readonly Arrangement[]): Promise<Arrangement> {
  let best: { readonly rate: number; readonly arrangement: Arrangement } | null = null;
  for (const arrangement of among) {
    const { perSecond: rate } = await runBareSharp(job, arrangement);
    if (best === null || rate > best.rate) best = { rate, arrangement };
  }
  if (best === null) throw new Error('no arrangement');
  return best.arrangement;
}
