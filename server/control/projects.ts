import type { AddressGuard } from '../../pool/source/guard.ts';
import { normaliseAllowedHost } from '../../store/hosts.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { Project, ProjectSettings, Projects } from '../../store/projects.ts';
import { Failure } from '../http/failure.ts';
import type { CreateProjectInput, DomainInput, ProjectSettingsInput } from './contract.ts';
import { bareHostRule, readAllowedHost } from './hosts.ts';
import { maxFaults } from './validate.ts';

/** What the operations on projects work with. */
export interface ProjectsEnvironment {
  readonly projects: Projects;
  readonly guard: AddressGuard;
  /** Learns of every change, at once. */
  readonly onChange: (project: Project) => void;
}

/** @throws Failure invalid_request with every fault, or as many as are worth listing */
export function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new Failure('invalid_request', `${faults.slice(0, maxFaults).join('; ')}.`);
}

export class ProjectOperations {
  readonly #projects: Projects;
  readonly #guard: AddressGuard;
  readonly #onChange: (project: Project) => void;

  constructor({ projects, guard, onChange }: ProjectsEnvironment) {
    this.#projects = projects;
    this.#guard = guard;
    this.#onChange = onChange;
  }

  /** The projects that a key can see. */
  async list(key: ApiKey): Promise<Project[]> {
    if (key.projectId === null) return this.#projects.list();
    const project = await this.#projects.find(key.projectId);
    return project === null ? [] : [project];
  }

  async find(id: string): Promise<Project> {
    return found(id, await this.#projects.find(id));
  }

  async create(input: CreateProjectInput, orgId: string): Promise<Project> {
    const faults: string[] = [];
    const origin = URL.canParse(input.origin) ? new URL(input.origin) : null;
    const hosts: string[] = [];
    const read = (text: string, field: string) => {
      const result = readAllowedHost(text, this.#guard);
      if ('fault' in result) faults.push(`${field} ${result.fault}`);
      else hosts.push(result.host);
    };
    if (origin === null || !/^https?:$/.test(origin.protocol)) {
      faults.push('origin must be an http or https URL');
    } else {
      read(origin.hostname, 'the host of origin');
    }
    for (const [index, text] of (input.allowedOrigins ?? []).entries()) {
      read(text, `allowedOrigins[${index}]`);
    }
    refuse(faults);
    return this.#projects.create({
      orgId,
      name: input.name,
      origin: input.origin,
      allowedOrigins: [...new Set(hosts)],
    });
  }

  async update(id: string, input: ProjectSettingsInput): Promise<Project> {
    const settings: { -readonly [N in keyof ProjectSettings]?: ProjectSettings[N] } = { ...input };
    if (input.maxWidth === 0) settings.maxWidth = null;
    if (input.watermarkUrl === '') settings.watermarkUrl = null;
    else if (input.watermarkUrl !== undefined) this.#checkWatermark(input.watermarkUrl);
    return this.#changed(id, await this.#projects.updateSettings(id, settings));
  }

  async addHost(id: string, { host }: DomainInput): Promise<Project> {
    const result = readAllowedHost(host, this.#guard);
    if ('fault' in result) throw new Failure('invalid_request', `host ${result.fault}.`);
    return this.#changed(id, await this.#projects.addHost(id, result.host));
  }

  /** Also a host that could not be added now: it may be on the list from other times. */
  async removeHost(id: string, { host }: DomainInput): Promise<Project> {
    const entry = normaliseAllowedHost(host);
    if (entry === null) throw new Failure('invalid_request', `host ${bareHostRule}.`);
    return this.#changed(id, await this.#projects.removeHost(id, entry));
  }

  #checkWatermark(text: string): void {
    try {
      this.#guard.check(new URL(text));
    } catch {
      refuse(['watermarkUrl must be an http or https URL on a public host']);
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
  throw new Failure('project_not_found', `There is no project ${id.slice(0, 80)}.`);
}
