import { ServiceError } from '../../contract/errors.ts';
import type { DeliveryHost } from '../../store/delivery-host.ts';
import { itemOfHost } from '../../store/project.ts';
import type { Project } from '../../store/projects.ts';
import type { ProjectCache, ProjectState } from '../project-cache.ts';

/** A project, and the requested delivery host. */
export interface Site {
  readonly project: Pick<
    Project,
    '_id' | 'origin' | 'allowedOrigins' | 'presets' | 'stripMetadata'
  > &
    Partial<Pick<Project, 'maxWidth'>>;
  readonly host: DeliveryHost;
}

/** Returns the site of a canonical host, or null if the host is not the project's. */
export function siteAtHost(project: Project, host: string): Site | null {
  const found = itemOfHost(project.hosts, host);
  return found === undefined ? null : { project, host: found };
}

/** Returns whether the site's host reads another service's URLs. */
export const isForeign = ({ host: { urls = 'native' } }: Site): boolean => urls !== 'native';

/**
 * A parent folder, as read by servers that decode slashes, decode again, or remove parameters of a
 * segment.
 */
const parentFolder = /(?:\/|%(?:25)*(?:2F|5C))(?:\.|%(?:25)*2E){2}(?=$|[/;]|%(?:25)*(?:2F|5C|3B))/i;

/**
 * Returns the source of a path below a site's base.
 * @throws ServiceError source_missing, source_invalid
 */
export function resolveSourcePath({ host, project }: Site, path: string): URL {
  const base = new URL(host.base ?? project.origin);
  const folder = base.pathname.replace(/\/?$/, '/');
  if (path === '/') throw new ServiceError('source_missing', 'The path of the source is missing.');
  const source = new URL(base.origin + folder + path.slice(1));
  const { pathname } = source;
  if (!pathname.startsWith(folder) || parentFolder.test(pathname)) {
    throw new ServiceError('source_invalid', "The path leads out of the host's base.");
  }
  source.hash = '';
  return source;
}

/** A request's host, and the project that owns it, or null. */
export interface RequestedSite {
  readonly host: string;
  readonly found: ProjectState | null;
}

/**
 * Returns the first host that a project owns, or the first host; undefined if this needs a look-up.
 * @param hosts as from `RequestHosts.candidates`
 */
export function knownSite(
  projects: ProjectCache,
  hosts: readonly string[],
): RequestedSite | undefined {
  for (const host of hosts) {
    const found = host === '' ? null : projects.knownAt(host);
    if (found !== null) return found && { host, found };
  }
  return { host: hosts[0] ?? '', found: null };
}

/** Like `knownSite`, with look-ups. @throws ServiceError overloaded */
export async function findSite(
  projects: ProjectCache,
  hosts: readonly string[],
): Promise<RequestedSite> {
  for (const host of hosts) {
    const found = host === '' ? null : await projects.findAt(host);
    if (found !== null) return { host, found };
  }
  return { host: hosts[0] ?? '', found: null };
}

/** Returns a response's key, which includes the host only for delivery hosts. */
export const responseCacheKey = ({ host, found }: RequestedSite, target: string): string =>
  found === null ? target : host + target;
