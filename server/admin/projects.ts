import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import type { Store } from '../../store/open.ts';
import type { Project } from '../../store/projects.ts';
import { PurgeHooks } from '../../store/purge-hooks.ts';
import {
  createProject as createControlled,
  createProjectInput,
} from '../control/resources/projects.ts';
import {
  type PurgeReceipt,
  purgeImages as purge,
  purgeInput,
} from '../control/resources/purges.ts';
import type { BodyOf, NamedSchema } from '../control/schema.ts';
import { validationErrors } from '../control/validate.ts';
import { organisationOf } from './organisation-commands.ts';
import { AdminError } from './terminal.ts';

/** Creates a project by the rules of the control plane, in an organisation or the default one. */
export async function createProject(
  store: Store,
  settings: Settings,
  input: BodyOf<typeof createProjectInput>,
  organisation: string | undefined,
): Promise<Project> {
  requireValid(createProjectInput, input);
  const orgId = await organisationOf(store, organisation);
  return createControlled({ projects: store.projects, guard: guardOf(settings) }, input, orgId);
}

/** Purges images of a project by the rules of the control plane. */
export async function purgeImages(
  { db, projects, purges }: Store,
  settings: Settings,
  id: string,
  input: BodyOf<typeof purgeInput>,
): Promise<PurgeReceipt> {
  requireValid(purgeInput, input);
  const { receipt } = await purge(
    {
      projects,
      guard: guardOf(settings),
      purges,
      purgeHooks: settings.purgeHookUrl === null ? null : new PurgeHooks(db),
      callbacks: null,
      // The processes of a running service find changes by polling the store.
      onChange: () => {},
    },
    id,
    input,
  );
  return receipt;
}

function requireValid(schema: NamedSchema<unknown>, input: unknown): void {
  const errors = validationErrors(schema, input);
  if (errors.length > 0) throw new AdminError(`${errors.join('; ')}.`);
}

function guardOf({ privateSources, sourcePorts, port, workerPort }: Settings): AddressGuard {
  const own = { urls: [], ports: [port, workerPort] };
  return new AddressGuard({ privateSources, sourcePorts, own });
}
