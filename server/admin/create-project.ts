import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import type { Store } from '../../store/open.ts';
import type { Project } from '../../store/projects.ts';
import { ProjectResource } from '../control/project-resource.ts';
import { type Input, validationErrors } from '../control/validate.ts';
import { organisationOf } from './organisation-commands.ts';
import { AdminError } from './terminal.ts';

/** Creates a project by the rules of the control plane, in an organisation or the default one. */
export async function createProject(
  store: Store,
  { privateSources, sourcePorts, port, workerPort }: Settings,
  input: Input<'CreateProjectInput'>,
  organisation: string | undefined,
): Promise<Project> {
  const errors = validationErrors('CreateProjectInput', input);
  if (errors.length > 0) throw new AdminError(`${errors.join('; ')}.`);
  const own = { urls: [], ports: [port, workerPort] };
  const resource = new ProjectResource({
    projects: store.projects,
    guard: new AddressGuard({ privateSources, sourcePorts, own }),
    // A new project has no watermark.
    checkWatermark: async () => {},
    // The processes of a running service find changes by polling the store.
    onChange: () => {},
  });
  return resource.create(input, await organisationOf(store, organisation));
}
