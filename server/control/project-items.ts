import type { ErrorCode } from '../../contract/errors.ts';
import { isPartName, partNamePattern } from '../../store/project.ts';
import type { ItemField, Project, StateCheck } from '../../store/projects.ts';
import { capitalised } from './image-schemas.ts';
import { List } from './list.ts';
import { itemResult, listResult, type Operation, operation } from './operation.ts';
import type { NamedSchema } from './schema.ts';
import { findProject, reportProjectChange, type Services } from './services.ts';
import { invalidRequest } from './validation-messages.ts';

/** The schema of preset and layer names. */
export const partNameSchema = {
  type: 'string',
  pattern: partNamePattern,
  description: 'A lower-case letter, followed by up to 39 lower-case letters, digits, - and _.',
} as const;

/** Checks the name of a preset or layer. @throws ServiceError invalid_request */
export function requirePartName(kind: 'preset' | 'layer', name: string): string {
  if (isPartName(name)) return name;
  throw invalidRequest(
    `the name of a ${kind} must start with a lower-case letter, and contain at most 40 lower-case letters, digits, - and _`,
  );
}

/**
 * Services needed by the operations of one kind of item, plus the services that every kind needs.
 */
type ItemServices<Names extends keyof Services> = Pick<Services, Names | 'projects' | 'onChange'>;

/** The specifics of one kind of named items, such as presets. */
export interface ItemKind<Input, Body, Used> {
  /** The response field of one item, and its name in summaries unless `title` is set. */
  readonly singular: string;
  /**
   * The response field of a list, the name in messages, and the path segment unless `segment` is
   * set.
   */
  readonly plural: string;
  readonly segment?: string;
  /** The project's field with the items. */
  readonly field: ItemField;
  readonly title?: string;
  /** The item's name in the path. */
  readonly parameter: { readonly name: string; readonly schema: object };
  readonly input: NamedSchema<Input>;
  readonly body: NamedSchema<Body>;
  /** Who can read and change the items; default: any key. */
  readonly scopes?: { readonly read?: Operation['scope']; readonly write?: Operation['scope'] };
  /** Error codes of `put` with statuses that are not shared by every operation. */
  readonly errors?: readonly ErrorCode[];
  /** Maximum per project, because each project holds its items in memory. */
  readonly limit: number;
  /** Returns a name in canonical form. @throws ServiceError invalid_request */
  readonly readName: (text: string) => string;
  /** Called before looking up the project. @throws ServiceError invalid_request */
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
  /** Completes the response of a change, such as with warnings. */
  readonly review?: (body: Body, services: Used) => Promise<Body>;
  /** Called after every deletion, even if the item is missing, to complete an earlier deletion. */
  readonly release?: (services: Used, projectId: string, name: string) => Promise<void>;
  readonly names: (project: Project) => readonly string[];
  readonly getName: (body: Body) => string;
  /** @throws ServiceError if the project does not contain the item */
  readonly find: (project: Project, name: string) => Body;
}

/** The descriptions of the operations. Without `get`, clients read the list. */
interface ItemDescriptions {
  readonly list: string;
  readonly get?: string;
  readonly put: string;
  readonly remove: string;
}

/** The paths of a project's items: of a kind, and of a single item. */
type PartPath = `/projects/{projectId}/${string}`;

/**
 * A project's named items of one kind: fields of the project in the store, separate resources for
 * clients.
 */
export class ProjectItems<Input, Body, Names extends keyof Services = never> {
  readonly #kind: ItemKind<Input, Body, ItemServices<Names>>;
  readonly #title: string;
  readonly #path: PartPath;

  constructor(kind: ItemKind<Input, Body, ItemServices<Names>>) {
    this.#kind = kind;
    this.#title = kind.title ?? kind.singular;
    this.#path = `/projects/{projectId}/${kind.segment ?? kind.plural}`;
  }

  get input(): NamedSchema<Input> {
    return this.#kind.input;
  }

  async list(services: ItemServices<Names>, projectId: string): Promise<Body[]> {
    return this.#readAll(await findProject(services, projectId));
  }

  async find(services: ItemServices<Names>, projectId: string, name: string): Promise<Body> {
    return this.#kind.find(await findProject(services, projectId), name);
  }

  /** Creates or replaces an item. */
  async put(
    services: ItemServices<Names>,
    projectId: string,
    nameText: string,
    input: Input,
  ): Promise<Body> {
    const { plural, limit, readName, checkInput, checkForProject, set, names, find, review } =
      this.#kind;
    const name = readName(nameText);
    await checkInput(input, name, projectId, services);
    const check = (project: Project) => {
      checkForProject?.(project, input, services);
      const known = names(project);
      if (known.length >= limit && !known.includes(name)) {
        throw invalidRequest(`a project must not have more than ${limit} ${plural}`);
      }
    };
    const change = set(services, projectId, name, input, check);
    const body = find(await reportProjectChange(services, projectId, change), name);
    return review === undefined ? body : review(body, services);
  }

  /** Deletes an item; succeeds even if it does not exist. @returns the remaining items */
  async remove(
    services: ItemServices<Names>,
    projectId: string,
    nameText: string,
  ): Promise<Body[]> {
    const { readName, field, release, names } = this.#kind;
    const name = readName(nameText);
    const project = await findProject(services, projectId);
    const remaining = names(project).includes(name)
      ? await reportProjectChange(
          services,
          projectId,
          services.projects.removeItem(projectId, field, name),
        )
      : project;
    await release?.(services, projectId, name);
    return this.#readAll(remaining);
  }

  /** By name. */
  #readAll(project: Project): Body[] {
    const { names, find } = this.#kind;
    return [...names(project)].sort().map((name) => find(project, name));
  }

  /** Returns the operations on the items, such as `listProjectPresets`, by operation id. */
  operations(descriptions: ItemDescriptions): Readonly<Record<string, Operation>> {
    const { singular, plural, parameter, input, body, getName, scopes = {}, errors } = this.#kind;
    const item: PartPath = `${this.#path}/{${parameter.name}}`;
    const parameters = {
      [parameter.name]: { schema: parameter.schema, example: getName(body.example) },
    };
    const nameIn = (path: Readonly<Record<string, string>>) => path[parameter.name] ?? '';
    const [one, all] = [itemResult(singular, body), listResult(plural, body)];
    const { list, get, put, remove } = descriptions;
    return {
      [`listProject${capitalised(plural)}`]: operation<PartPath, null, readonly Body[]>({
        method: 'GET',
        path: this.#path,
        summary: `List ${this.#title}s`,
        description: list,
        scope: scopes.read,
        isPaged: true,
        result: all,
        handle: async ({ path, page }, services) =>
          List.of(await this.list(services, path.projectId), getName, page),
      }),
      ...(get !== undefined && {
        [`getProject${capitalised(singular)}`]: operation<PartPath, null, Body>({
          method: 'GET',
          path: item,
          parameters,
          summary: `Read a ${this.#title}`,
          description: get,
          scope: scopes.read,
          result: one,
          handle: ({ path }, services) => this.find(services, path.projectId, nameIn(path)),
        }),
      }),
      [`putProject${capitalised(singular)}`]: operation<PartPath, Input, Body>({
        method: 'PUT',
        path: item,
        parameters,
        summary: `Create or replace a ${this.#title}`,
        description: put,
        scope: scopes.write,
        input,
        result: one,
        errors,
        handle: ({ path, input }, services) =>
          this.put(services, path.projectId, nameIn(path), input),
      }),
      [`deleteProject${capitalised(singular)}`]: operation<PartPath, null, readonly Body[]>({
        method: 'DELETE',
        path: item,
        parameters,
        summary: `Delete a ${this.#title}`,
        description: remove,
        scope: scopes.write,
        result: all,
        handle: ({ path }, services) => this.remove(services, path.projectId, nameIn(path)),
      }),
    };
  }
}
