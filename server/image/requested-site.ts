import type { ProjectCache, ProjectState } from '../project-cache.ts';

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
