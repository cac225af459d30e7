import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import type { Prewarms } from '../../store/prewarms.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';
import type { Body } from './schemas.ts';

/** @throws ServiceError prewarm_not_found */
export async function findPrewarm(
  prewarms: Pick<Prewarms, 'find'>,
  projectId: string,
  id: string,
): Promise<Body<'PrewarmStatus'>> {
  return (await prewarms.find(projectId, id)) ?? notFound('prewarm_not_found', 'prewarming', id);
}

/** @throws ServiceError purge_not_found */
export async function findPurge(
  purges: Pick<PurgeRecords, 'find'>,
  projectId: string,
  id: string,
): Promise<Body<'PurgeStatus'>> {
  return (await purges.find(projectId, id)) ?? notFound('purge_not_found', 'purge', id);
}

function notFound(code: ErrorCode, what: string, id: string): never {
  const message = `The project has no ${what} ${id.slice(0, 40)}, or it is older than a day.`;
  throw new ServiceError(code, message);
}
