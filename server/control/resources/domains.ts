import type { Project } from '../../../store/projects.ts';
import { bareHostError, readAllowedHost, readHostPattern } from '../hosts-and-urls.ts';
import { itemResult, operation, optional } from '../operation.ts';
import { project, projectBody } from '../project-body.ts';
import { queryReader } from '../query.ts';
import { type BodyOf, closed, hostText, named } from '../schema.ts';
import { changed, type Services } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';
import { requireRoom } from './projects.ts';

const host = {
  ...hostText,
  description: 'A bare host name; `*.example.com` allows all its subdomains.',
} as const;

const domainInput = named('DomainInput', closed({ host }), { host: 'static.example.com' });

export const domainOperations = {
  addProjectDomain: operation({
    method: 'POST',
    path: '/projects/{projectId}/domains',
    summary: 'Allow a source host',
    description:
      'Adds a normalised public host name to the allowlist. Adding an existing host is not an error.',
    input: domainInput,
    result: itemResult('project', project),
    handle: async ({ path, input }, services) =>
      projectBody(await addHost(services, path.projectId, input.host)),
  }),
  removeProjectDomain: operation({
    method: 'DELETE',
    path: '/projects/{projectId}/domains',
    summary: 'Remove a source host',
    description:
      'Removes a host from the allowlist. Removing a missing host is not an error. Send the host in the query or in the body; the query takes precedence.',
    input: optional(domainInput),
    query: {
      host: {
        description: 'The host to remove; takes precedence over the body.',
        schema: host,
        example: domainInput.example.host,
      },
    },
    result: itemResult('project', project),
    handle: async ({ path: { projectId }, input, query }, services) => {
      const removed = readRemovedHost(query, input);
      const stored = await services.projects.removeHost(projectId, removed);
      return projectBody(changed(services, projectId, stored));
    },
  }),
};

async function addHost(services: Services, id: string, text: string) {
  const result = readAllowedHost(text, services.guard);
  if ('error' in result) throw invalidRequest(`host ${result.error}`);
  const check = (project: Project) => requireRoom(project, result.host);
  return changed(services, id, await services.projects.addHost(id, result.host, check));
}

/**
 * Accepts hosts that could not be added any longer: the rules might have changed. @throws
 * ServiceError invalid_request
 */
function readRemovedHost(query: string, body: BodyOf<typeof domainInput> | null): string {
  const errors: string[] = [];
  // Reject a repeated name, which parsers read differently, like in the body.
  const named = queryReader(query, errors)('host');
  rejectInvalid(errors);
  const texts = [named ?? [], body?.host ?? []].flat();
  const [removed, ...others] = texts.map(readHostPattern);
  if (removed === undefined) throw invalidRequest('host is required, in the query or in the body');
  // The query takes precedence, but the body must be valid.
  if (removed === null || others.includes(null)) {
    const invalid = texts.find((text) => readHostPattern(text) === null) ?? '';
    throw invalidRequest(`host ${bareHostError(invalid)}`);
  }
  return removed;
}
