import type { Project, Projects } from '../../store/projects.ts';
import { requireProject } from '../project-cache.ts';
import { rejectInvalid } from './invalid.ts';

/** What a kind of named resource, such as presets, has of its own. */
export interface NamedResourceKind<Input, Body> {
  /** Of the resources, for messages. */
  readonly plural: string;
  /** Maximum in a project. They are in memory with it. */
  readonly limit: number;
  /** The canonical form of a name. @throws ServiceError invalid_request */
  readonly readName: (text: string) => string;
  /** Called before the project is looked up. @throws ServiceError invalid_request */
  readonly checkInput: (input: Input, name: string, projectId: string) => void | Promise<void>;
  /** @throws ServiceError invalid_request */
  readonly checkForProject?: (project: Project, input: Input) => void;
  readonly set: (projectId: string, name: string, input: Input) => Promise<Project | null>;
  readonly unset: (projectId: string, name: string) => Promise<Project | null>;
  readonly names: (project: Project) => readonly string[];
  /** @throws ServiceError for a project without a resource of this name */
  readonly find: (project: Project, name: string) => Body;
}

export interface NamedResourceEnvironment {
  readonly projects: Pick<Projects, 'find'>;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** The resources of one kind of a project: parts of it in the store, resources of their own for clients. */
export class NamedResource<Input, Body> {
  readonly #environment: NamedResourceEnvironment;
  readonly #kind: NamedResourceKind<Input, Body>;

  constructor(environment: NamedResourceEnvironment, kind: NamedResourceKind<Input, Body>) {
    this.#environment = environment;
    this.#kind = kind;
  }

  async list(projectId: string): Promise<Body[]> {
    return this.#listOf(await this.#find(projectId));
  }

  async find(projectId: string, name: string): Promise<Body> {
    return this.#kind.find(await this.#find(projectId), name);
  }

  /** Creates or replaces a resource. */
  async put(projectId: string, nameText: string, input: Input): Promise<Body> {
    const { plural, limit, readName, checkInput, checkForProject, set, names, find } = this.#kind;
    const name = readName(nameText);
    await checkInput(input, name, projectId);
    const project = await this.#find(projectId);
    checkForProject?.(project, input);
    const known = names(project);
    // Concurrent calls may exceed the limit by a few, which does no harm.
    if (known.length >= limit && !known.includes(name)) {
      rejectInvalid([`a project must not have more than ${limit} ${plural}`]);
    }
    return find(this.#changed(projectId, await set(projectId, name, input)), name);
  }

  /** Deletes a resource; succeeds also if there is none of this name. @returns the remaining ones */
  async remove(projectId: string, nameText: string): Promise<Body[]> {
    const { readName, unset, names } = this.#kind;
    const name = readName(nameText);
    const project = await this.#find(projectId);
    if (!names(project).includes(name)) return this.#listOf(project);
    return this.#listOf(this.#changed(projectId, await unset(projectId, name)));
  }

  /** By name. */
  #listOf(project: Project): Body[] {
    const { names, find } = this.#kind;
    return [...names(project)].sort().map((name) => find(project, name));
  }

  async #find(projectId: string): Promise<Project> {
    return requireProject(projectId, await this.#environment.projects.find(projectId));
  }

  #changed(projectId: string, project: Project | null): Project {
    const changed = requireProject(projectId, project);
    this.#environment.onChange(changed);
    return changed;
  }
}
