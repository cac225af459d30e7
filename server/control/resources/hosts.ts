import { isIP } from 'node:net';
import { ServiceError } from '../../../contract/errors.ts';
import { canonicalHost } from '../../../contract/hosts.ts';
import { itemOfHost } from '../../../store/project.ts';
import type { Project, Projects } from '../../../store/projects.ts';
import { RequestHosts } from '../../http/forwarded.ts';
import { isAllowedHost } from '../../image/access.ts';
import { urlKinds } from '../../image/host-address.ts';
import { readUrl, urlRule } from '../hosts-and-urls.ts';
import { ProjectItems } from '../project-items.ts';
import { type BodyOf, httpUrl, named, strictObject } from '../schema.ts';
import { findProject } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

const hostRule =
  "host must be a host name without wildcard and port, and neither an address nor the service's own host";

const hostSchema = {
  type: 'string',
  description: 'A host name without wildcard or port.',
} as const;

const base = {
  ...httpUrl,
  type: ['string', 'null'],
  description:
    "Base URL of the host's sources, on an allowed host; null for the project's `origin`.",
  examples: ['https://shop.example.com/media/'],
} as const;

const urls = {
  type: 'string',
  enum: urlKinds,
  description: 'URL format that the host accepts: the name of another service, or `native`.',
} as const;

const host = named(
  'DeliveryHost',
  {
    description: "A host that serves the project's images.",
    ...strictObject({
      host: hostSchema,
      base,
      urls,
      updatedAt: { type: 'string', format: 'date-time' },
    }),
  },
  {
    host: 'img.shop.example',
    base: 'https://shop.example.com/media/',
    urls: 'native',
    updatedAt: '2026-11-20T09:31:32.000Z',
  },
);

const hostInput = named(
  'DeliveryHostInput',
  { type: 'object', properties: { base, urls }, additionalProperties: false },
  { base: 'https://shop.example.com/media/' },
);

type Host = BodyOf<typeof host>;
export type HostInput = BodyOf<typeof hostInput>;

/** By host. */
export const hosts = new ProjectItems<HostInput, Host, 'baseUrl'>({
  singular: 'host',
  plural: 'hosts',
  field: 'hosts',
  title: 'delivery host',
  parameter: { name: 'host', schema: hostSchema },
  input: hostInput,
  body: host,
  scopes: { write: 'root' },
  errors: ['host_taken'],
  limit: 20,
  readName: (text) => {
    const name = canonicalHost(text);
    if (name === null || name.startsWith('[') || isIP(name) !== 0) throw invalidRequest(hostRule);
    return name;
  },
  checkInput: (_input, name, _projectId, { baseUrl }) => {
    if (new RequestHosts(baseUrl, []).read(name) !== name) throw invalidRequest(hostRule);
  },
  checkForProject: (project, { base }) => {
    if (base == null) return;
    const url = readUrl(base);
    if (url === null) throw invalidRequest(`base ${urlRule}`);
    if (/[?#]/.test(base)) throw invalidRequest('base must not have a query or a fragment');
    if (!isAllowedHost(project, url.hostname)) {
      throw invalidRequest('base must be on an allowed host');
    }
  },
  set: async (services, projectId, name, { base = null, urls = 'native' }, check) => {
    const { projects } = services;
    // Check before claiming the host: a refused change would leave the claim behind.
    check(await findProject(services, projectId));
    await claim(projects, projectId, name);
    const set = { host: name, base, urls, updatedAt: new Date() };
    const stored = projects.setItem(projectId, 'hosts', name, set, check);
    return stored.finally(() => settle(projects, projectId, name));
  },
  release: ({ projects }, projectId, name) => settle(projects, projectId, name),
  names: (project) => Object.values(project.hosts ?? {}).map(({ host }) => host),
  getName: ({ host }) => host,
  find: hostBody,
});

export const hostOperations = hosts.operations({
  list: "Lists the project's delivery hosts by name.",
  get: 'Returns the base URL and the URL format of the host.',
  put: "Requires a root key. Within two seconds the host serves the project's images: the path is appended to `base`. A host belongs to a single project.",
  remove:
    'Requires a root key. Returns the remaining hosts. Deleting a missing host is not an error. Requests for the host then fail.',
});

/** @throws ServiceError host_taken */
async function claim({ hostClaims }: Projects, projectId: string, host: string): Promise<void> {
  if ((await hostClaims.claim(host, projectId)) === projectId) return;
  throw new ServiceError('host_taken', `The host ${host} belongs to another project.`);
}

/**
 * Matches a host's claim to the project, because a project serves its images at every host that it
 * lists. Each change ends with this, so simultaneous changes leave both equal.
 * @throws ServiceError host_taken
 */
async function settle(projects: Projects, projectId: string, host: string): Promise<void> {
  const isListed = async () => {
    const project = await projects.find(projectId);
    return itemOfHost(project?.hosts, host) !== undefined;
  };
  if (!(await isListed())) {
    await projects.hostClaims.release(host, projectId);
    // Another request might have listed the host meanwhile, and settled before the release.
    if (!(await isListed())) return;
  }
  try {
    await claim(projects, projectId, host);
  } catch (error) {
    if (error instanceof ServiceError) await projects.removeItem(projectId, 'hosts', host);
    throw error;
  }
}

/** @throws ServiceError host_not_found */
function hostBody(project: Project, name: string): Host {
  const stored = itemOfHost(project.hosts, canonicalHost(name) ?? name);
  if (stored === undefined) {
    const shown = name.slice(0, 80).toWellFormed();
    throw new ServiceError('host_not_found', `The project has no delivery host ${shown}.`);
  }
  const { host, base, urls = 'native', updatedAt } = stored;
  return { host, base, urls: urls as Host['urls'], updatedAt: updatedAt.toISOString() };
}
