import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import type { Store } from '../../store/open.ts';
import type { Project } from '../../store/projects.ts';
import { PurgeHooks } from '../../store/purge-hooks.ts';
import { ProjectResource } from '../control/project-resource.ts';
import type { Body } from '../control/schemas.ts';
import { type Input, type InputName, validationErrors } from '../control/validate.ts';
import { organisationOf } from './organisation-commands.ts';
import { AdminError } from './terminal.ts';

/** Creates a project by the rules of the control plane, in an organisation or the default one. */
export async function createProject(
  store: Store,
  settings: Settings,
  input: Input<'CreateProjectInput'>,
  organisation: string | undefined,
): Promise<Project> {
  requireValid('CreateProjectInput', input);
  const orgId = await organisationOf(store, organisation);
  return projectsOf(store, settings).create(input, orgId);
}

/** Purges images of a project by the rules of the control plane. */
export async function purgeImages(
  store: Store,
  settings: Settings,
  id: string,
  input: Input<'PurgeInput'>,
): Promise<Body<'PurgeReceipt'>> {
  requireValid('PurgeInput', input);
  const { receipt } = await projectsOf(store, settings).purge(id, input);
  return receipt;
}

function requireValid(name: InputName, input: unknown): void {
  const errors = validationErrors(name, input);
  if (errors.length > 0) throw new AdminError(`${errors.join('; ')}.`);
}

function projectsOf(store: Store, settings: Settings): ProjectResource {
  const { privateSources, sourcePorts, port, workerPort, purgeHookUrl } = settings;
  const own = { urls: [], ports: [port, workerPort] };
  return new ProjectResource({
    projects: store.projects,
    guard: new AddressGuard({ privateSources, sourcePorts, own }),
    // No command sets a watermark.
    checkWatermark: async () => {},
    purges: store.purges,
    callbacks: null,
    purgeHooks: purgeHookUrl === null ? null : new PurgeHooks(store.db),
    // The processes of a running service find changes by polling the store.
    onChange: () => {},
  });
}
