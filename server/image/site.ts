import { ServiceError } from '../../contract/errors.ts';
import type { DeliveryHost } from '../../store/delivery-host.ts';
import { originField } from '../../store/project-origin.ts';
import type { Project } from '../../store/projects.ts';

/** A project, and the host of it that a request is for. */
export interface Site {
  readonly project: Pick<
    Project,
    '_id' | 'origin' | 'allowedOrigins' | 'presets' | 'stripMetadata'
  > &
    Partial<Pick<Project, 'maxWidth'>>;
  readonly host: DeliveryHost;
}

/** The site of a canonical host, or null if the project does not have the host. */
export function siteOf(project: Project, host: string): Site | null {
  const found = project.hosts?.[originField(host)];
  return found === undefined ? null : { project, host: found };
}

/** Whether the host of a site reads the URLs of another service. */
export const isForeign = ({ host: { urls = 'native' } }: Site): boolean => urls !== 'native';

/**
 * Returns the source of a path below the base of a site.
 * @throws ServiceError source_missing, source_invalid
 */
export function sourceBelow({ host, project }: Site, path: string): URL {
  const base = new URL(host.base ?? project.origin);
  const folder = base.pathname.replace(/\/?$/, '/');
  if (path === '/') throw new ServiceError('source_missing', 'The path of the source is missing.');
  const source = new URL(base.origin + folder + path.slice(1));
  if (!source.pathname.startsWith(folder)) {
    throw new ServiceError('source_invalid', "The path leads out of the host's base.");
  }
  source.hash = '';
  return source;
}

/** The key of a response: at a delivery host it depends on the host, elsewhere not. */
export const keyAt = (host: string, site: object | null, target: string): string =>
  site === null ? target : host + target;
