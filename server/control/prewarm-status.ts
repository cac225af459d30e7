import { ServiceError } from '../../contract/errors.ts';
import type { JobDocument } from '../../store/jobs.ts';
import type { Prewarm, Prewarms } from '../../store/prewarms.ts';
import type { Body } from './schemas.ts';

type State = keyof Body<'PrewarmStatus'>['sources'];

/** @throws ServiceError prewarm_not_found */
export async function findPrewarm(
  prewarms: Pick<Prewarms, 'find'>,
  projectId: string,
  id: string,
): Promise<Body<'PrewarmStatus'>> {
  const prewarm = await prewarms.find(projectId, id);
  if (prewarm !== null) return statusOf(prewarm);
  const message = `The project has no prewarming ${id.slice(0, 40)}, or it is older than a day.`;
  throw new ServiceError('prewarm_not_found', message);
}

function statusOf({ id, createdAt, variantCount, jobs }: Prewarm): Body<'PrewarmStatus'> {
  const sources = { waiting: 0, running: 0, done: 0, failed: 0 };
  const failures: { source: string; reason: string }[] = [];
  let percents = 0;
  for (const job of jobs) {
    const state = stateOf(job);
    sources[state] += 1;
    const isOpen = state === 'waiting' || state === 'running';
    percents += isOpen ? (job?.progress ?? 0) : 100;
    if (state !== 'failed' || job === null) continue;
    failures.push({ source: job.data.source, reason: job.failReason ?? '' });
  }
  const open = sources.waiting + sources.running;
  return {
    id,
    status: open > 0 ? 'accepted' : sources.failed > 0 ? 'failed' : 'done',
    progress: Math.floor(percents / jobs.length),
    sourceCount: jobs.length,
    variantCount,
    sources,
    failures,
    createdAt: createdAt.toISOString(),
  };
}

function stateOf(job: JobDocument | null): State {
  // An operator has deleted it.
  if (job === null) return 'failed';
  if (job.lockedAt !== null) return 'running';
  if (job.nextRunAt !== null) return 'waiting';
  return (job.failCount ?? 0) > 0 ? 'failed' : 'done';
}
