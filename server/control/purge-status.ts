import { ServiceError } from '../../contract/errors.ts';
import type { PurgeProgress, PurgeRecords } from '../../store/purge-records.ts';
import type { Body } from './schemas.ts';

type Hook = Body<'PurgeStatus'>['hook'];

/** @throws ServiceError purge_not_found */
export async function findPurge(
  purges: Pick<PurgeRecords, 'find'>,
  projectId: string,
  id: string,
): Promise<Body<'PurgeStatus'>> {
  const purge = await purges.find(projectId, id);
  if (purge !== null) return statusOf(purge);
  const message = `The project has no purge ${id.slice(0, 40)}, or it is older than a day.`;
  throw new ServiceError('purge_not_found', message);
}

function statusOf(purge: PurgeProgress): Body<'PurgeStatus'> {
  const { number, sourceCount, machines, createdAt } = purge;
  const hook = hookOf(purge);
  const isOpen = machines.length === 0 || hook.status === 'waiting';
  return {
    id: String(number),
    status: hook.status === 'failed' ? 'failed' : isOpen ? 'accepted' : 'done',
    sourceCount,
    hook,
    machines: machines.map(({ name, images, deletedAt }) => ({
      name,
      images,
      deletedAt: deletedAt.toISOString(),
    })),
    createdAt: createdAt.toISOString(),
  };
}

function hookOf({ hook }: PurgeProgress): Hook {
  if (hook === null) return { status: 'none', reason: '' };
  // A later request names all images of the project.
  if (hook === undefined) return { status: 'done', reason: '' };
  const { lockedAt, nextRunAt, failCount, failReason } = hook;
  const failed = (failCount ?? 0) > 0;
  const reason = failed ? (failReason ?? '') : '';
  if (lockedAt !== null || nextRunAt !== null) return { status: 'waiting', reason };
  return { status: failed ? 'failed' : 'done', reason };
}
