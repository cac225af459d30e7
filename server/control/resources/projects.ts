import { Semaphore } from '../../../pool/source/semaphore.ts';
import { isProjectId } from '../../../store/identifiers.ts';
import type { ApiKey } from '../../../store/keys.ts';
import type { Project } from '../../../store/projects.ts';
import { readAllowedHost, readUrl, urlRule } from '../hosts-and-urls.ts';
import { List, type PageQuery } from '../list.ts';
import { listOf, one, operation } from '../operation.ts';
import { type ProjectBody, project, projectBody } from '../project-body.ts';
import { type BodyOf, hostText, named, uri } from '../schema.ts';
import { findProject, type Services } from '../services.ts';
import { rejectInvalid } from '../validation-messages.ts';

export const createProjectInput = named(
  'CreateProjectInput',
  {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 80 },
      origin: { ...uri, description: "The site's http or https address; its host is allowed." },
      allowedOrigins: {
        type: 'array',
        items: hostText,
        description: 'Other hosts that sources may come from; at most 1000 hosts in all.',
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

export const projectOperations = {
  listProjects: operation({
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description:
      'The projects that the key can access: its project, or for an all-project key all projects of its organisation. Without `limit` and `cursor` all of them, by date of creation, in at most 16 MB, which are some 25,000 projects; with one of them a page, in the order of the ids.',
    isPaged: true,
    result: listOf('projects', project),
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
    result: one('project', project),
    handle: async ({ key, input }, services) =>
      projectBody(await createProject(services, input, key.orgId)),
  }),
  getProject: operation({
    method: 'GET',
    path: '/projects/{projectId}',
    summary: 'Read a project',
    description: 'The project, if the key is authorised for it.',
    result: one('project', project),
    handle: async ({ path }, services) => projectBody(await findProject(services, path.projectId)),
  }),
};

/** Bounded, because every image request searches the list. */
export const maxHosts = 1_000;
export const tooManyHosts = `allowedOrigins must not have more than ${maxHosts} hosts`;

/** @throws ServiceError invalid_request */
export async function createProject(
  { projects, guard }: Pick<Services, 'projects' | 'guard'>,
  input: BodyOf<typeof createProjectInput>,
  orgId: string,
): Promise<Project> {
  const { name, origin, allowedOrigins = [] } = input;
  // Checked first, because reading a host takes time.
  if (allowedOrigins.length > maxHosts) rejectInvalid([tooManyHosts]);
  const errors: string[] = [];
  const hosts = new Set<string>();
  const read = (text: string, field: string) => {
    const result = readAllowedHost(text, guard);
    if ('error' in result) errors.push(`${field} ${result.error}`);
    else hosts.add(result.host);
  };
  const host = readUrl(origin)?.hostname;
  if (host === undefined) errors.push(`origin ${urlRule}`);
  else if (host.startsWith('*')) errors.push('the host of origin must be one host');
  else read(host, 'the host of origin');
  for (const [index, text] of allowedOrigins.entries()) read(text, `allowedOrigins[${index}]`);
  if (hosts.size > maxHosts) errors.push(tooManyHosts);
  rejectInvalid(errors);
  return projects.create({ orgId, name, origin, allowedOrigins: [...hosts] });
}

/** Bounded, because a whole list is in memory. */
const maxListBytes = 16_000_000;
/** A page ends early with the project that exceeds it: the hosts of a project may take 250 KB. */
const maxPageBytes = 2_000_000;
/** Read at once for a page, of which they may be the most. */
const maxReadProjects = 50;
const tooManyProjects =
  'the projects are too many for one response: request pages, such as ?limit=100, and follow the Link header';

/**
 * One after the other, so that the projects of few are in memory. A slow client does not keep the others waiting:
 * responses that are being sent are not counted, and only the rate limit of the keys and the limit of connections
 * bound them.
 */
const wholeLists = new Semaphore(1);
/** Few at a time for the same reason. They do not wait for whole lists, which take longer. */
const pages = new Semaphore(2);

type Stored = Pick<Services, 'projects'>;

/**
 * The projects that a key can access.
 * @param page in the order of the ids; null for all of them
 * @param signal aborts when the client disconnects
 * @throws ServiceError invalid_request for too many projects
 */
export async function listProjects(
  { projects }: Stored,
  { projectId, allOrganisations, orgId }: ApiKey,
  page: PageQuery | null,
  signal: AbortSignal,
): Promise<List> {
  if (page !== null && page.cursor !== null && !isProjectId(page.cursor)) {
    rejectInvalid(['cursor must be that of a Link header']);
  }
  const idOf = ({ id }: ProjectBody) => id;
  if (projectId !== null) {
    const project = await projects.find(projectId);
    return List.of(project === null ? [] : [projectBody(project)], idOf, page);
  }
  const organisation = allOrganisations ? null : orgId;
  const leave = await (page === null ? wholeLists : pages).enter(signal);
  try {
    return page === null
      ? await readAll({ projects }, organisation, signal)
      : await readPage({ projects }, organisation, page, signal);
  } finally {
    leave();
  }
}

/** By id. */
async function readPage(
  { projects }: Stored,
  organisation: string | null,
  { limit, cursor }: PageQuery,
  signal: AbortSignal,
): Promise<List> {
  const texts: string[] = [];
  let bytes = 0;
  let last = cursor;
  // One more, which tells that there is a next page.
  const bounds = { after: cursor, limit: Math.min(limit + 1, maxReadProjects) };
  for await (const read of projects.pages(organisation, bounds)) {
    signal.throwIfAborted();
    for (const project of read) {
      if (texts.length === limit || bytes > maxPageBytes) {
        return new List(texts.join(), { limit, cursor: last });
      }
      const json = JSON.stringify(projectBody(project));
      bytes += Buffer.byteLength(json) + 1;
      texts.push(json);
      last = project._id;
    }
  }
  return new List(texts.join());
}

/** By date of creation. */
async function readAll(
  { projects }: Stored,
  organisation: string | null,
  signal: AbortSignal,
): Promise<List> {
  const texts: { readonly createdAt: number; readonly json: string }[] = [];
  let bytes = 0;
  for await (const page of projects.pages(organisation)) {
    signal.throwIfAborted();
    for (const project of page) {
      const json = JSON.stringify(projectBody(project));
      bytes += Buffer.byteLength(json) + 1;
      texts.push({ createdAt: project.createdAt.getTime(), json });
    }
    if (bytes > maxListBytes) rejectInvalid([tooManyProjects]);
  }
  texts.sort((a, b) => a.createdAt - b.createdAt);
  return new List(texts.map(({ json }) => json).join());
}
