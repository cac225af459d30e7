import type { Project, StateCheck } from '../../store/projects.ts';
import { List } from './list.ts';
import { listOf, type Operation, one } from './operation.ts';
import type { NamedSchema } from './schema.ts';
import { changed, findProject, type Services } from './services.ts';
import { invalidRequest } from './validation-messages.ts';

/** What the parts of a kind need: beside the names, what all need. */
type PartServices<Names extends keyof Services> = Pick<Services, Names | 'projects' | 'onChange'>;

/** What a kind of named parts, such as presets, has of its own. */
export interface PartKind<Input, Body, Used> {
  /** The field of one part in a response, and without `title` its name in summaries. */
  readonly singular: string;
  /** The field of a list in a response, the name in messages, and without `segment` the segment of the path. */
  readonly plural: string;
  readonly segment?: string;
  readonly title?: string;
  /** The name of a part in the path. */
  readonly parameter: { readonly name: string; readonly schema: object };
  readonly input: NamedSchema<Input>;
  readonly body: NamedSchema<Body>;
  /** Maximum in a project. They are in memory with it. */
  readonly limit: number;
  /** The canonical form of a name. @throws ServiceError invalid_request */
  readonly readName: (text: string) => string;
  /** Called before the project is looked up. @throws ServiceError invalid_request */
  readonly checkInput: (
    input: Input,
    name: string,
    projectId: string,
    services: Used,
  ) => void | Promise<void>;
  /** @throws ServiceError invalid_request */
  readonly checkForProject?: (project: Project, input: Input, services: Used) => void;
  readonly set: (
    services: Used,
    projectId: string,
    name: string,
    input: Input,
    check: StateCheck,
  ) => Promise<Project | null>;
  readonly unset: (services: Used, projectId: string, name: string) => Promise<Project | null>;
  readonly names: (project: Project) => readonly string[];
  readonly nameOf: (body: Body) => string;
  /** @throws ServiceError for a project without a part of this name */
  readonly find: (project: Project, name: string) => Body;
}

/** The paths of the parts of a project: of all of a kind, and of one. */
type PartPath = `/projects/{projectId}/${string}`;

/** The parts of one kind of a project that have names: fields of it in the store, resources of their own for clients. */
export class NamedParts<Input, Body, Names extends keyof Services = never> {
  readonly #kind: PartKind<Input, Body, PartServices<Names>>;
  readonly #title: string;
  readonly #path: PartPath;

  constructor(kind: PartKind<Input, Body, PartServices<Names>>) {
    this.#kind = kind;
    this.#title = kind.title ?? kind.singular;
    this.#path = `/projects/{projectId}/${kind.segment ?? kind.plural}`;
  }

  async list(services: PartServices<Names>, projectId: string): Promise<Body[]> {
    return this.#listOf(await findProject(services, projectId));
  }

  async find(services: PartServices<Names>, projectId: string, name: string): Promise<Body> {
    return this.#kind.find(await findProject(services, projectId), name);
  }

  /** Creates or replaces a part. */
  async put(
    services: PartServices<Names>,
    projectId: string,
    nameText: string,
    input: Input,
  ): Promise<Body> {
    const { plural, limit, readName, checkInput, checkForProject, set, names, find } = this.#kind;
    const name = readName(nameText);
    await checkInput(input, name, projectId, services);
    const check = (project: Project) => {
      checkForProject?.(project, input, services);
      const known = names(project);
      if (known.length >= limit && !known.includes(name)) {
        throw invalidRequest(`a project must not have more than ${limit} ${plural}`);
      }
    };
    const stored = await set(services, projectId, name, input, check);
    return find(changed(services, projectId, stored), name);
  }

  /** Deletes a part; succeeds also if there is none of this name. @returns the remaining ones */
  async remove(
    services: PartServices<Names>,
    projectId: string,
    nameText: string,
  ): Promise<Body[]> {
    const { readName, unset, names } = this.#kind;
    const name = readName(nameText);
    const project = await findProject(services, projectId);
    if (!names(project).includes(name)) return this.#listOf(project);
    const stored = await unset(services, projectId, name);
    return this.#listOf(changed(services, projectId, stored));
  }

  /** By name. */
  #listOf(project: Project): Body[] {
    const { names, find } = this.#kind;
    return [...names(project)].sort().map((name) => find(project, name));
  }

  listOperation(description: string): Operation<PartPath, null, readonly Body[]> {
    const { plural, body, nameOf } = this.#kind;
    return {
      method: 'GET',
      path: this.#path,
      summary: `List ${this.#title}s`,
      description,
      isPaged: true,
      result: listOf(plural, body),
      handle: async ({ path, page }, services) =>
        List.of(await this.list(services, path.projectId), nameOf, page),
    };
  }

  getOperation(description: string): Operation<PartPath, null, Body> {
    return {
      method: 'GET',
      ...this.#itemOperation(`Read a ${this.#title}`, description),
      result: one(this.#kind.singular, this.#kind.body),
      handle: ({ path }, services) => this.find(services, path.projectId, this.#nameIn(path)),
    };
  }

  putOperation(description: string): Operation<PartPath, Input, Body> {
    const { singular, input, body } = this.#kind;
    return {
      method: 'PUT',
      ...this.#itemOperation(`Create or replace a ${this.#title}`, description),
      input,
      result: one(singular, body),
      handle: ({ path, input }, services) =>
        this.put(services, path.projectId, this.#nameIn(path), input),
    };
  }

  deleteOperation(description: string): Operation<PartPath, null, readonly Body[]> {
    const { plural, body } = this.#kind;
    return {
      method: 'DELETE',
      ...this.#itemOperation(`Delete a ${this.#title}`, description),
      result: listOf(plural, body),
      handle: ({ path }, services) => this.remove(services, path.projectId, this.#nameIn(path)),
    };
  }

  #itemOperation(summary: string, description: string) {
    const { parameter, body, nameOf } = this.#kind;
    const path: PartPath = `${this.#path}/{${parameter.name}}`;
    const example = nameOf(body.example);
    const parameters = { [parameter.name]: { schema: parameter.schema, example } };
    return { path, summary, description, parameters };
  }

  #nameIn(path: Readonly<Record<string, string>>): string {
    return path[this.#kind.parameter.name] ?? '';
  }
}
