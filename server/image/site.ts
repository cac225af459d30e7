import { ServiceError } from '../../contract/errors.ts';
import type { DeliveryHost } from '../../store/delivery-host.ts';
import { itemOfHost } from '../../store/project-origin.ts';
import type { Project } from '../../store/projects.ts';
import type { RequestedSite } from './requested-site.ts';

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
export function sourceBelow({ host, project }: Site, path: string): URL {
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

/** Returns a response's key, which includes the host only for delivery hosts. */
export const keyAt = ({ host, found }: RequestedSite, target: string): string =>
  found === null ? target : host + target;
