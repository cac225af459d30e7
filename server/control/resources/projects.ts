import { ServiceError } from '../../../contract/errors.ts';
import { Semaphore } from '../../../pool/semaphore.ts';
import type { AddressGuard } from '../../../pool/source/guard.ts';
import { isProjectId } from '../../../store/identifiers.ts';
import type { ApiKey } from '../../../store/keys.ts';
import { withTimeout } from '../../../store/outage.ts';
import type { Project } from '../../../store/projects.ts';
import { readAllowedHost, readUrl, urlRule } from '../hosts-and-urls.ts';
import { queryReader } from '../input.ts';
import { List, type PageQuery } from '../list.ts';
import { itemResult, listResult, operation } from '../operation.ts';
import { otherFields, type ProjectBody, project, projectBody } from '../project-body.ts';
import { type BodyOf, httpUrl, named, projectIdParameter, texts } from '../schema.ts';
import { findProject, reportProjectChange, type Services } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';
import { purgeWith } from './purges.ts';

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
        ...texts,
        maxItems: maxHosts,
        description: 'More allowed source hosts; at most 1000 hosts in total.',
        examples: [['*.cdn.example.com']],
      },
    },
    required: ['name', 'origin'],
    additionalProperties: false,
    'x-aliases': {
      ...otherFields(['name', 'origin', 'allowedOrigins']),
      allowedHosts: 'allowedOrigins',
      allowedDomains: 'allowedOrigins',
    },
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
    'x-aliases': otherFields(['name', 'origin']),
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
      'Deletes the project with its keys, hosts, presets, layers, private origins, signing secrets, waiting callbacks, usage and cached images. Within 2 seconds, every process that reaches the store returns 404 for its image URLs. Deletion cannot be undone; a repeated call returns 404. While prewarming is unfinished, the call fails unless `force` cancels it.',
    query: {
      force: {
        description: "`true` cancels the project's unfinished prewarming.",
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
function projectHosts(
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
  return reportProjectChange(
    services,
    id,
    services.projects.updateIdentity(id, identity, host, check),
  );
}

/** Bounded, because memory holds the whole list. */
const maxListBytes = 16_000_000;
/** A page ends early with the project that exceeds this size: a project's hosts can take 250 KB. */
const maxPageBytes = 2_000_000;
/** Maximum projects to read at once for a page. */
const maxReadProjects = 50;
const tooManyProjects =
  'there are too many projects for one response: request pages, such as ?limit=100, and follow the Link header';

/**
 * Runs requests for whole lists one at a time, so that memory holds the projects of few requests. A
 * slow client does not delay the others: responses being sent are not counted, and only the keys'
 * rate limit and the connection limit bound them.
 */
const wholeLists = new Semaphore(1);
/** Few at a time for the same reason. They do not wait for whole lists, which take longer. */
const pages = new Semaphore(2);

type Stored = Pick<Services, 'projects'>;

/**
 * Returns the projects that a key can access.
 * @param page by id; null for all projects
 * @param signal aborts when the client disconnects
 * @throws ServiceError invalid_request if there are too many projects
 */
export async function listProjects(
  { projects }: Stored,
  { projectId, allOrganisations, orgId }: ApiKey,
  page: PageQuery | null,
  signal: AbortSignal,
): Promise<List> {
  if (page !== null && page.cursor !== null && !isProjectId(page.cursor)) {
    throw invalidRequest('cursor must come from a Link header');
  }
  const getId = ({ id }: ProjectBody) => id;
  if (projectId !== null) {
    const project = await projects.find(projectId);
    return List.of(project === null ? [] : [projectBody(project)], getId, page);
  }
  const organisation = allOrganisations ? null : orgId;
  const leave = await (page === null ? wholeLists : pages).enter(signal);
  try {
    return await readProjects({ projects }, organisation, page, signal);
  } finally {
    leave();
  }
}

/** Returns a page by id, or all projects by date of creation. */
async function readProjects(
  { projects }: Stored,
  organisation: string | null,
  page: PageQuery | null,
  signal: AbortSignal,
): Promise<List> {
  const listed: { readonly id: string; readonly createdAt: number; readonly json: string }[] = [];
  const toList = (next: PageQuery | null = null) =>
    new List(listed.map(({ json }) => json).join(), next);
  let bytes = 0;
  // Read one more project, to detect a next page.
  const bounds = page && { after: page.cursor, limit: Math.min(page.limit + 1, maxReadProjects) };
  for await (const read of projects.pages(organisation, bounds ?? undefined)) {
    signal.throwIfAborted();
    for (const project of read) {
      if (page !== null && (listed.length === page.limit || bytes > maxPageBytes)) {
        return toList({ limit: page.limit, cursor: listed.at(-1)?.id ?? null });
      }
      const json = JSON.stringify(projectBody(project));
      bytes += Buffer.byteLength(json) + 1;
      listed.push({ id: project._id, createdAt: project.createdAt.getTime(), json });
    }
    if (page === null && bytes > maxListBytes) throw invalidRequest(tooManyProjects);
  }
  if (page === null) listed.sort((a, b) => a.createdAt - b.createdAt);
  return toList();
}

/** @throws ServiceError invalid_request */
function readForce(query: string): boolean {
  const errors: string[] = [];
  const force = queryReader(query, errors)('force') ?? 'false';
  if (force !== 'true' && force !== 'false') errors.push('force must be true or false');
  rejectInvalid(errors);
  return force === 'true';
}

/**
 * Deletes a project by one update of its document, and then its data in other collections. After an
 * interruption, or if another process writes more of its data, the primaries delete the rest
 * (`server/cluster/sweep.ts`).
 *
 * @throws ServiceError project_not_found, prewarm_in_progress
 */
export async function deleteProject(
  services: Pick<Services, 'projects' | 'queue' | 'purges' | 'callsPurgeHook' | 'onChange'>,
  id: string,
  { force }: { readonly force: boolean },
): Promise<void> {
  const { projects, queue } = services;
  await findProject(services, id);
  const open = force ? 0 : await queue.open(id);
  if (open > 0) {
    const message = `The project's prewarming is in progress: ${open} ${open === 1 ? 'source is' : 'sources are'} not finished.`;
    throw new ServiceError('prewarm_in_progress', message);
  }
  await purgeWith(services, id, null, () => projects.delete(id));
  await withTimeout(projects.deleteDocuments(id)).catch(() => {});
}
