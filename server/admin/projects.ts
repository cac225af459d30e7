import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import { JobQueue } from '../../store/jobs.ts';
import type { Store } from '../../store/open.ts';
import type { Project } from '../../store/projects.ts';
import { type PrewarmInput, prewarmInput, queuePrewarm } from '../control/resources/prewarms.ts';
import { deleteProject as deleteControlled } from '../control/resources/project-deletion.ts';
import {
  createProject as createControlled,
  createProjectInput,
  projectHosts,
  updateProject as updateControlled,
  updateProjectInput,
} from '../control/resources/projects.ts';
import { purgeImages as purge, purgeInput } from '../control/resources/purges.ts';
import type { BodyOf } from '../control/schema.ts';
import { findProject } from '../control/services.ts';
import { requireValid } from '../control/validate.ts';
import { organisationOf } from './organisation-commands.ts';

/** Validates a new project as far as the store is not needed. @throws ServiceError invalid_request */
export function checkNewProject(
  settings: Settings,
  input: BodyOf<typeof createProjectInput>,
): void {
  requireValid(createProjectInput, input);
  projectHosts(input, guardOf(settings));
}

/** Creates a project by the rules of the control plane, in an organisation or the default one. */
export async function createProject(
  store: Store,
  settings: Settings,
  input: BodyOf<typeof createProjectInput>,
  organisation: string | undefined,
): Promise<Project> {
  checkNewProject(settings, input);
  const orgId = await organisationOf(store, organisation);
  return createControlled(servicesOf(store, settings), input, orgId);
}

/** Changes a project by the rules of the control plane. */
export function updateProject(
  store: Store,
  settings: Settings,
  id: string,
  input: BodyOf<typeof updateProjectInput>,
): Promise<Project> {
  requireValid(updateProjectInput, input);
  return updateControlled(servicesOf(store, settings), id, input);
}

/** Deletes a project by the rules of the control plane. */
export function deleteProject(
  store: Store,
  settings: Settings,
  id: string,
  options: { readonly force: boolean },
): Promise<void> {
  return deleteControlled(servicesOf(store, settings), id, options);
}

/** Purges images of a project by the rules of the control plane. @returns the number of sources; 0 for all images */
export async function purgeImages(
  store: Store,
  settings: Settings,
  id: string,
  input: BodyOf<typeof purgeInput>,
): Promise<number> {
  requireValid(purgeInput, input);
  return (await purge(servicesOf(store, settings), id, input)).sourceCount;
}

/** Queues prewarming by the rules of the control plane. @returns its id */
export async function prewarm(
  store: Store,
  settings: Settings,
  id: string,
  input: PrewarmInput,
): Promise<string> {
  requireValid(prewarmInput, input);
  const services = servicesOf(store, settings);
  await services.queue.ensureIndexes();
  const queued = await queuePrewarm(services, await findProject(services, id), input);
  return queued.id;
}

function guardOf(settings: Settings): AddressGuard {
  const { privateSources, sourcePorts, nat64Prefixes, port, workerPort } = settings;
  const own = { urls: [], ports: [port, workerPort] };
  return new AddressGuard({ privateSources, sourcePorts, nat64Prefixes, own });
}

function servicesOf(store: Store, settings: Settings) {
  const { purgeHookUrl, prewarmQueue } = settings;
  const { projects, projectDocuments, prewarms, purges } = store;
  return {
    projects,
    projectDocuments,
    prewarms,
    purges,
    guard: guardOf(settings),
    queue: new JobQueue(store.db, prewarmQueue),
    callsPurgeHook: purgeHookUrl !== null,
    callbacks: null,
    // The processes of a running service find changes by polling the store.
    onChange: () => {},
  };
}
