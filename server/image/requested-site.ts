import type { ProjectCache, ProjectState } from '../project-cache.ts';

/** A request's host, and the project that owns it, or null. */
export interface RequestedSite {
  readonly host: string;
  readonly found: ProjectState | null;
}

/**
 * Returns the first host that a project owns, or the last host; undefined if this needs a look-up.
 * @param hosts as from `RequestHosts.allOf`
 */
export function knownSite(
  projects: ProjectCache,
  hosts: readonly string[],
): RequestedSite | undefined {
  let site: RequestedSite = { host: '', found: null };
  for (const host of hosts) {
    const found = host === '' ? null : projects.knownAt(host);
    if (found === undefined) return undefined;
    site = { host, found };
    if (found !== null) break;
  }
  return site;
}

/** Like `knownSite`, with look-ups. @throws ServiceError overloaded */
export async function findSite(
  projects: ProjectCache,
  hosts: readonly string[],
): Promise<RequestedSite> {
  let site: RequestedSite = { host: '', found: null };
  for (const host of hosts) {
    site = { host, found: host === '' ? null : await projects.findAt(host) };
    if (site.found !== null) break;
  }
  return site;
}
