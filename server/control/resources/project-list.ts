import { Semaphore } from '../../../pool/semaphore.ts';
import { isProjectId } from '../../../store/identifiers.ts';
import type { ApiKey } from '../../../store/keys.ts';
import { List, type PageQuery } from '../list.ts';
import { type ProjectBody, projectBody } from '../project-body.ts';
import type { Services } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

/** Bounded, because memory holds the whole list. */
const maxListBytes = 16_000_000;
/** A page ends early with the project that exceeds this size: a project's hosts can take 250 KB. */
const maxPageBytes = 2_000_000;
/** Maximum projects to read at once for a page. */
const maxReadProjects = 50;
const tooManyProjects =
  'the projects are too many for one response: request pages, such as ?limit=100, and follow the Link header';

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
    throw invalidRequest('cursor must be that of a Link header');
  }
  const getId = ({ id }: ProjectBody) => id;
  if (projectId !== null) {
    const project = await projects.find(projectId);
    return List.of(project === null ? [] : [projectBody(project)], getId, page);
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
  // Read one more project, to detect a next page.
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
    if (bytes > maxListBytes) throw invalidRequest(tooManyProjects);
  }
  texts.sort((a, b) => a.createdAt - b.createdAt);
  return new List(texts.map(({ json }) => json).join());
}
