import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import { JobQueue } from '../../store/jobs.ts';
import type { Store } from '../../store/open.ts';
import { Prewarms } from '../../store/prewarms.ts';

// What commands use of the control plane. They load it only to run, because loading takes time.
export { prewarmInput, queuePrewarm } from '../control/resources/prewarms.ts';
export { deleteProject } from '../control/resources/project-deletion.ts';
export {
  createProject,
  createProjectInput,
  projectHosts,
  updateProject,
  updateProjectInput,
} from '../control/resources/projects.ts';
export { purgeImages, purgeInput } from '../control/resources/purges.ts';
export { findProject } from '../control/services.ts';
export { requireValid } from '../control/validate.ts';

export function createGuard(settings: Settings): AddressGuard {
  const { privateSources, sourcePorts, nat64Prefixes, port, workerPort } = settings;
  const own = { urls: [], ports: [port, workerPort] };
  return new AddressGuard({ privateSources, sourcePorts, nat64Prefixes, own });
}

export function createServices(store: Store, settings: Settings) {
  const { purgeHookUrl, prewarmQueue } = settings;
  const { projects, purges } = store;
  return {
    projects,
    prewarms: new Prewarms(store.db, prewarmQueue),
    purges,
    guard: createGuard(settings),
    queue: new JobQueue(store.db),
    callsPurgeHook: purgeHookUrl !== null,
    callbacks: null,
    // The processes of a running service find changes by polling the store.
    onChange: () => {},
  };
}
