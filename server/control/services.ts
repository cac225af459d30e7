import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { Callbacks } from '../../store/callbacks.ts';
import type { JobQueue } from '../../store/jobs.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { Keys } from '../../store/keys.ts';
import type { Prewarms } from '../../store/prewarms.ts';
import type { Project, Projects } from '../../store/projects.ts';
import type { PurgeRepository } from '../../store/purges.ts';
import type { SourceLoaders } from '../origins/source-loaders.ts';
import { requireProject } from '../request-errors.ts';
import type { UsageRecorder } from '../usage/usage.ts';

/** The services that operations use. */
export interface Services {
  readonly projects: Projects;
  readonly guard: AddressGuard;
  readonly queue: Pick<JobQueue, 'open'>;
  readonly prewarms: Pick<Prewarms, 'add' | 'find'>;
  readonly purges: Pick<PurgeRepository, 'hold' | 'confirm' | 'find'>;
  readonly callsPurgeHook: boolean;
  /** Null if no setting provides the signing secret. */
  readonly callbacks: Pick<Callbacks, 'add' | 'hasRoom'> | null;
  readonly deliveries: Pick<Callbacks, 'latest'>;
  readonly keys: Pick<Keys, 'issue' | 'ofProject' | 'countValid' | 'revoke' | 'delete'>;
  readonly usage: Pick<UsageRecorder, 'days' | 'windows'>;
  readonly keyring: Keyring;
  readonly loaders: Pick<SourceLoaders, 'isOperators'>;
  /** The operator's folder, or null. */
  readonly fonts: string | null;
  readonly baseUrl: string;
  /** Fetches and decodes a watermark like an image request; rejects on failure. */
  readonly checkWatermark: (project: Project, url: URL, signal: AbortSignal) => Promise<void>;
  /** Called right after every change, including deletions. */
  readonly onChange: (project: Project) => void;
}

/** @throws ServiceError project_not_found */
export async function findProject(
  { projects }: Pick<Services, 'projects'>,
  id: string,
): Promise<Project> {
  return requireProject(id, await projects.find(id));
}

/**
 * Waits for a change, and reports it before its response is sent.
 *
 * @param change resolves with the changed project, or null if it does not exist
 * @throws ServiceError project_not_found
 */
export async function reportProjectChange(
  { onChange }: Pick<Services, 'onChange'>,
  id: string,
  change: Promise<Project | null>,
): Promise<Project> {
  const project = requireProject(id, await change);
  onChange(project);
  return project;
}

/** @param what the missing item */
export function progressNotFound(code: ErrorCode, what: string, id: string): never {
  const message = `The project has no ${what} ${id.slice(0, 40)}, or it is older than a day.`;
  throw new ServiceError(code, message);
}
