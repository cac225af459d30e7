import { ServiceError } from '../../contract/errors.ts';
import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { Project, ProjectSettings, Projects } from '../../store/projects.ts';
import { projectNotFound } from '../project-cache.ts';
import { bareHostRule, readAllowedHost } from './hosts.ts';
import type { CreateProjectInput, DomainInput, ProjectSettingsInput } from './schemas.ts';
import { publicHostError, readUrl, urlRule } from './urls.ts';
import { maxErrors } from './validation-messages.ts';

/** More hosts than a site needs; bounded because every image request searches the list. */
const maxHosts = 1_000;
const tooManyHosts = `allowedOrigins must not have more than ${maxHosts} hosts`;

/** The dependencies of the operations on projects. */
export interface ProjectsEnvironment {
  readonly projects: Projects;
  readonly guard: AddressGuard;
  /** Fetches and decodes a watermark as image requests do; rejects when it cannot be used. */
  readonly checkWatermark: (url: URL, signal: AbortSignal) => Promise<void>;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** @throws ServiceError invalid_request with the faults, at most `maxFaults` */
export function rejectInvalid(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new ServiceError('invalid_request', `${faults.slice(0, maxErrors).join('; ')}.`);
}

export class ProjectResource {
  readonly #projects: Projects;
  readonly #guard: AddressGuard;
  readonly #fetchWatermark: ProjectsEnvironment['checkWatermark'];
  readonly #onChange: (project: Project) => void;

  constructor({ projects, guard, checkWatermark, onChange }: ProjectsEnvironment) {
    this.#projects = projects;
    this.#guard = guard;
    this.#fetchWatermark = checkWatermark;
    this.#onChange = onChange;
  }

  /** The projects that a key can access. */
  async list(key: ApiKey): Promise<Project[]> {
    if (key.projectId === null) {
      return this.#projects.list(key.allOrganisations ? null : key.orgId);
    }
    const project = await this.#projects.find(key.projectId);
    return project === null ? [] : [project];
  }

  async find(id: string): Promise<Project> {
    return found(id, await this.#projects.find(id));
  }

  async create(input: CreateProjectInput, orgId: string): Promise<Project> {
    // Before they are read, each of which takes time.
    if ((input.allowedOrigins?.length ?? 0) > maxHosts) rejectInvalid([tooManyHosts]);
    const faults: string[] = [];
    const origin = readUrl(input.origin);
    const hosts = new Set<string>();
    const read = (text: string, field: string) => {
      const result = readAllowedHost(text, this.#guard);
      if ('fault' in result) faults.push(`${field} ${result.fault}`);
      else hosts.add(result.host);
    };
    if (origin === null) faults.push(`origin ${urlRule}`);
    else if (origin.hostname.startsWith('*')) faults.push('the host of origin must be one host');
    else read(origin.hostname, 'the host of origin');
    for (const [index, text] of (input.allowedOrigins ?? []).entries()) {
      read(text, `allowedOrigins[${index}]`);
    }
    if (hosts.size > maxHosts) faults.push(tooManyHosts);
    rejectInvalid(faults);
    const { name, origin: asGiven } = input;
    return this.#projects.create({ orgId, name, origin: asGiven, allowedOrigins: [...hosts] });
  }

  /** @param signal aborts when nobody waits for the result */
  async update(id: string, input: ProjectSettingsInput, signal: AbortSignal): Promise<Project> {
    const settings: { -readonly [N in keyof ProjectSettings]?: ProjectSettings[N] } = { ...input };
    if (input.maxWidth === 0) settings.maxWidth = null;
    if (input.watermarkUrl === '') settings.watermarkUrl = null;
    else if (input.watermarkUrl !== undefined) {
      await this.#checkWatermark(id, input.watermarkUrl, signal);
    }
    return this.#changed(id, await this.#projects.updateSettings(id, settings));
  }

  async addHost(id: string, { host }: DomainInput): Promise<Project> {
    const result = readAllowedHost(host, this.#guard);
    if ('fault' in result) throw new ServiceError('invalid_request', `host ${result.fault}.`);
    // Concurrent calls may exceed the limit by a few hosts, which does no harm.
    const { allowedOrigins } = await this.find(id);
    if (allowedOrigins.length >= maxHosts && !allowedOrigins.includes(result.host)) {
      rejectInvalid([tooManyHosts]);
    }
    return this.#changed(id, await this.#projects.addHost(id, result.host));
  }

  /** Also removes a host that could not be added now: the rules may have changed since it was added. */
  async removeHost(id: string, { host }: DomainInput): Promise<Project> {
    const entry = canonicalHostPattern(host);
    if (entry === null) throw new ServiceError('invalid_request', `host ${bareHostRule}.`);
    return this.#changed(id, await this.#projects.removeHost(id, entry));
  }

  /**
   * A watermark that does not work would be missing on all images of the project. One that is set
   * already is not fetched again.
   */
  async #checkWatermark(id: string, text: string, signal: AbortSignal): Promise<void> {
    const url = readUrl(text);
    if (url === null) return rejectInvalid([`watermarkUrl ${urlRule}`]);
    const fault = publicHostError(url, this.#guard);
    if (fault !== null) return rejectInvalid([`watermarkUrl ${fault}`]);
    const { watermarkUrl } = await this.find(id);
    if (watermarkUrl === text) return;
    try {
      await this.#fetchWatermark(url, signal);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message } = error;
      if (code === 'internal_error') throw error;
      if (code === 'overloaded') {
        const busy = 'The watermark could not be checked because the service is busy.';
        throw new ServiceError('overloaded', busy, error);
      }
      rejectInvalid([
        `watermarkUrl must be an image that can be fetched. ${message.replace(/\.$/, '')}`,
      ]);
    }
  }

  #changed(id: string, project: Project | null): Project {
    const changed = found(id, project);
    this.#onChange(changed);
    return changed;
  }
}

function found(id: string, project: Project | null): Project {
  if (project !== null) return project;
  throw projectNotFound(id);
}
