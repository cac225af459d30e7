import type { InputName } from './validate.ts';

/** One operation of the control plane (spec part 4.4). */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix; `{projectId}` and `{presetName}` stand for one path segment each. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The access that the key must have. */
  readonly access: 'read' | 'write';
  /** `all`: only a key for all projects is accepted. */
  readonly keys: 'any' | 'all';
  readonly input?: InputName;
  /** The body may be omitted. */
  readonly inputOptional?: true;
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly name: string;
    readonly schema: string;
    /** True when there are several of the schema. */
    readonly isList?: true;
  };
  /** Error statuses besides those that every operation can have. */
  readonly errors: readonly (400 | 404)[];
}

export const prefix = '/api/sdk/v1';

const preset = { status: 200, name: 'preset', schema: 'Preset' } as const;
const presets = { status: 200, name: 'presets', schema: 'Preset', isList: true } as const;
const project = { status: 200, name: 'project', schema: 'Project' } as const;

/** Every operation by its id. Routes, checks and the OpenAPI document derive from this table. */
export const endpoints = {
  listProjects: {
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description:
      'The projects that the key can access: its project, or for an all-project key all projects of its organisation.',
    access: 'read',
    keys: 'any',
    success: { status: 200, name: 'projects', schema: 'Project', isList: true },
    errors: [],
  },
  createProject: {
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    description: 'Needs an all-project write key, so it is for self-hosted installations.',
    access: 'write',
    keys: 'all',
    input: 'CreateProjectInput',
    success: { status: 201, name: 'project', schema: 'Project' },
    errors: [400],
  },
  getProject: {
    method: 'GET',
    path: '/projects/{projectId}',
    summary: 'Read a project',
    description: 'The project, when the key is authorised for it.',
    access: 'read',
    keys: 'any',
    success: project,
    errors: [404],
  },
  getProjectConfiguration: {
    method: 'GET',
    path: '/projects/{projectId}/configuration',
    summary: 'Read the delivery configuration',
    description:
      'Delivery URLs, transform defaults, the source allowlist and the supported parameters; no secrets.',
    access: 'read',
    keys: 'any',
    success: { status: 200, name: 'configuration', schema: 'ProjectConfiguration' },
    errors: [404],
  },
  updateProjectSettings: {
    method: 'PATCH',
    path: '/projects/{projectId}/settings',
    summary: 'Update transform defaults',
    description: 'Changes the given defaults, at least one; the others do not change.',
    access: 'write',
    keys: 'any',
    input: 'ProjectSettingsInput',
    success: project,
    errors: [400, 404],
  },
  prewarmProjectImages: {
    method: 'POST',
    path: '/projects/{projectId}/prewarm',
    summary: 'Queue prewarming',
    description:
      'Queues the combinations of sources, widths and formats; 202 means accepted for asynchronous work. Every source must pass the allowlist and the address checks, and the queue must have a place for each, or nothing is queued.',
    access: 'write',
    keys: 'any',
    input: 'PrewarmInput',
    success: { status: 202, name: 'prewarm', schema: 'PrewarmReceipt' },
    errors: [400, 404],
  },
  addProjectDomain: {
    method: 'POST',
    path: '/projects/{projectId}/domains',
    summary: 'Allow a source host',
    description:
      'Adds a normalised public host name to the allowlist; adding one that is already there is no error.',
    access: 'write',
    keys: 'any',
    input: 'DomainInput',
    success: project,
    errors: [400, 404],
  },
  removeProjectDomain: {
    method: 'DELETE',
    path: '/projects/{projectId}/domains',
    summary: 'Remove a source host',
    description:
      'Removes a host from the allowlist; removing one that is not there is no error. The host comes from the query, which wins, or from the body.',
    access: 'write',
    keys: 'any',
    input: 'DomainInput',
    inputOptional: true,
    success: project,
    errors: [400, 404],
  },
  listProjectPresets: {
    method: 'GET',
    path: '/projects/{projectId}/presets',
    summary: 'List presets',
    description: 'The presets of the project, by name.',
    access: 'read',
    keys: 'any',
    success: presets,
    errors: [404],
  },
  getProjectPreset: {
    method: 'GET',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Read a preset',
    description: 'The parameters that `preset` stands for in image URLs of the project.',
    access: 'read',
    keys: 'any',
    success: preset,
    errors: [404],
  },
  putProjectPreset: {
    method: 'PUT',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Create or replace a preset',
    description:
      'Takes the parameters that image URLs take, by the same rules. Image URLs that name the preset change with it.',
    access: 'write',
    keys: 'any',
    input: 'PresetInput',
    success: preset,
    errors: [400, 404],
  },
  deleteProjectPreset: {
    method: 'DELETE',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Delete a preset',
    description:
      'Returns the presets that are left; deleting one that is not there is no error. Image URLs that name the preset fail then.',
    access: 'write',
    keys: 'any',
    success: presets,
    errors: [400, 404],
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointId = keyof typeof endpoints;

export interface Match {
  readonly id: EndpointId;
  readonly endpoint: Endpoint;
  /** Decoded; null for operations without one. */
  readonly projectId: string | null;
  readonly presetName: string | null;
}

interface Route {
  readonly id: EndpointId;
  readonly operation: Endpoint;
  readonly pattern: RegExp;
}

const routes: readonly Route[] = Object.entries(endpoints).map(([id, operation]) => ({
  id: id as EndpointId,
  operation,
  pattern: new RegExp(`^${prefix}${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** The operation that a method and an undecoded path name, or null. */
export function findEndpoint(method: string, path: string): Match | null {
  for (const { id, operation, pattern } of routes) {
    const match = operation.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const { projectId, presetName } = match.groups ?? {};
    return {
      id,
      endpoint: operation,
      projectId: decodeSegment(projectId),
      presetName: decodeSegment(presetName),
    };
  }
  return null;
}

/** The methods of the operations at an undecoded path. */
export function methodsAt(path: string): readonly string[] {
  return routes.flatMap(({ operation, pattern }) => (pattern.test(path) ? operation.method : []));
}

/** A segment that cannot be decoded is returned as it is; no project or preset has it as its name. */
function decodeSegment(segment: string | undefined): string | null {
  if (segment === undefined) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
