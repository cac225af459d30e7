import { ServiceError } from '../../../contract/errors.ts';
import { withTimeout } from '../../../store/deadline.ts';
import { queryReader } from '../query.ts';
import { findProject, type Services } from '../services.ts';
import { rejectInvalid } from '../validation-messages.ts';
import { purgeWith } from './purges.ts';

/** @throws ServiceError invalid_request */
export function readForce(query: string): boolean {
  const errors: string[] = [];
  const force = queryReader(query, errors)('force') ?? 'false';
  if (force !== 'true' && force !== 'false') errors.push('force must be true or false');
  rejectInvalid(errors);
  return force === 'true';
}

/**
 * Deletes a project by one update of its document, and then its data in other collections. After an
 * interruption, or if another process writes more of its data, the primaries delete the rest
 * (`server/cluster/sweep.ts`).
 *
 * @throws ServiceError project_not_found, prewarm_in_progress
 */
export async function deleteProject(
  services: Pick<Services, 'projects' | 'queue' | 'purges' | 'callsPurgeHook' | 'onChange'>,
  id: string,
  { force }: { readonly force: boolean },
): Promise<void> {
  const { projects, queue } = services;
  await findProject(services, id);
  const open = force ? 0 : await queue.open(id);
  if (open > 0) {
    const message = `Prewarming of the project is in progress: ${open} ${open === 1 ? 'source waits or is' : 'sources wait or are'} being warmed.`;
    throw new ServiceError('prewarm_in_progress', message);
  }
  await purgeWith(services, id, null, () => projects.delete(id));
  await withTimeout(projects.deleteDocuments(id)).catch(() => {});
}
