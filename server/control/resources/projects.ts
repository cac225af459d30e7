import type { AddressGuard } from '../../../pool/source/guard.ts';
import type { Project } from '../../../store/projects.ts';
import { readAllowedHost, readUrl, urlRule } from '../hosts-and-urls.ts';
import { itemResult, listResult, operation } from '../operation.ts';
import { project, projectBody } from '../project-body.ts';
import { type BodyOf, hostText, httpUrl, named, projectIdParameter } from '../schema.ts';
import { changed, findProject, type Services } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';
import { deleteProject, readForce } from './project-deletion.ts';
import { listProjects } from './project-list.ts';

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 80,
  description: 'Display name; you can change it at any time.',
  examples: ['My shop'],
} as const;
const origin = {
  ...httpUrl,
  description: "The site's http or https URL. Its host is added to the allowlist.",
  examples: ['https://shop.example.com/'],
} as const;

/** Bounded, because every image request searches the list. */
const maxHosts = 1_000;
const tooManyHosts = `allowedOrigins must not have more than ${maxHosts} hosts`;

export const createProjectInput = named(
  'CreateProjectInput',
  {
    type: 'object',
    properties: {
      name,
      origin,
      allowedOrigins: {
        type: 'array',
        items: hostText,
        maxItems: maxHosts,
        description: 'More allowed source hosts; at most 1000 hosts in total.',
        examples: [['*.cdn.example.com']],
      },
    },
    required: ['name', 'origin'],
    additionalProperties: false,
  },
  {
    name: 'My shop',
    origin: 'https://shop.example.com/',
    allowedOrigins: ['*.cdn.example.com'],
  },
);

export const updateProjectInput = named(
  'UpdateProjectInput',
  {
    type: 'object',
    description: 'The fields to change: at least one.',
    properties: { name, origin },
    minProperties: 1,
    additionalProperties: false,
  },
  { name: 'My new shop' },
);

export const projectOperations = {
  listProjects: operation({
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description:
      'Lists the projects that the key can access: its project, or all projects of its organisation. Without `limit` and `cursor`, the response contains all projects by creation date, up to 16 MB (about 25,000 projects). With either, it contains a page, ordered by id.',
    isPaged: true,
    cursor: projectIdParameter.schema,
    result: listResult('projects', project),
    handle: ({ key, page, signal }, services) => listProjects(services, key, page, signal),
  }),
  createProject: operation({
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    description: 'Requires an all-project write key.',
    scope: 'all-projects',
    input: createProjectInput,
    status: 201,
    result: itemResult('project', project),
    handle: async ({ key, input }, services) =>
      projectBody(await createProject(services, input, key.orgId)),
  }),
  getProject: operation({
    method: 'GET',
    path: '/projects/{projectId}',
    summary: 'Read a project',
    description: 'Returns the project, with its transform defaults and allowlist.',
    result: itemResult('project', project),
    handle: async ({ path }, services) => projectBody(await findProject(services, path.projectId)),
  }),
  updateProject: operation({
    method: 'PATCH',
    path: '/projects/{projectId}',
    summary: 'Update the name or site',
    description:
      'Changes the given fields; requires at least one. The host of a new origin is added to the allowlist; the old host stays allowed until you remove it.',
    input: updateProjectInput,
    result: itemResult('project', project),
    handle: async ({ path, input }, services) =>
      projectBody(await updateProject(services, path.projectId, input)),
  }),
  deleteProject: operation({
    method: 'DELETE',
    path: '/projects/{projectId}',
    summary: 'Delete a project',
    description:
      'Deletes the project with its keys, hosts, presets, layers, private origins, signing secrets, waiting callbacks, usage and cached images. Within 2 seconds, every process that reaches the store returns 404 for its image URLs. Deletion cannot be undone; a repeated call returns 404. While prewarming waits or runs, the call fails unless `force` cancels the prewarming.',
    query: {
      force: {
        description: '`true` cancels prewarming that waits or runs.',
        schema: { type: 'boolean' },
        example: true,
      },
    },
    status: 204,
    result: null,
    errors: ['prewarm_in_progress'],
    handle: ({ path, query }, services) =>
      deleteProject(services, path.projectId, { force: readForce(query) }),
  }),
};

/** @throws ServiceError invalid_request */
export function requireRoom({ allowedOrigins }: Project, host: string): void {
  if (allowedOrigins.length >= maxHosts && !allowedOrigins.includes(host)) {
    throw invalidRequest(tooManyHosts);
  }
}

/** Returns a site's host, or the error in its address. */
function readSite(
  text: string,
  guard: AddressGuard,
): { readonly host: string } | { readonly error: string } {
  const host = readUrl(text)?.hostname;
  if (host === undefined) return { error: `origin ${urlRule}` };
  if (host.startsWith('*')) return { error: 'the host of origin must be one host' };
  const result = readAllowedHost(host, guard);
  return 'error' in result ? { error: `the host of origin ${result.error}` } : result;
}

/** Returns a new project's allowed hosts. @throws ServiceError invalid_request */
export function projectHosts(
  { origin, allowedOrigins = [] }: BodyOf<typeof createProjectInput>,
  guard: AddressGuard,
): string[] {
  const errors: string[] = [];
  const hosts = new Set<string>();
  const site = readSite(origin, guard);
  if ('error' in site) errors.push(site.error);
  else hosts.add(site.host);
  for (const [index, text] of allowedOrigins.entries()) {
    const result = readAllowedHost(text, guard);
    if ('error' in result) errors.push(`allowedOrigins[${index}] ${result.error}`);
    else hosts.add(result.host);
  }
  if (hosts.size > maxHosts) errors.push(tooManyHosts);
  rejectInvalid(errors);
  return [...hosts];
}

/** @throws ServiceError invalid_request */
export async function createProject(
  { projects, guard }: Pick<Services, 'projects' | 'guard'>,
  input: BodyOf<typeof createProjectInput>,
  orgId: string,
): Promise<Project> {
  const { name, origin } = input;
  return projects.create({ orgId, name, origin, allowedOrigins: projectHosts(input, guard) });
}

/** @throws ServiceError invalid_request, project_not_found */
export async function updateProject(
  services: Pick<Services, 'projects' | 'guard' | 'onChange'>,
  id: string,
  { name, origin }: BodyOf<typeof updateProjectInput>,
): Promise<Project> {
  const identity = { ...(name !== undefined && { name }), ...(origin !== undefined && { origin }) };
  const site = origin === undefined ? { host: null } : readSite(origin, services.guard);
  if ('error' in site) throw invalidRequest(site.error);
  const { host } = site;
  const check = (project: Project) => {
    if (host !== null) requireRoom(project, host);
  };
  return changed(services, id, await services.projects.updateIdentity(id, identity, host, check));
}
