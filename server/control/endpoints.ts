import type { InputName } from './validate.ts';

/** One operation of the control plane. Keys that may only read can use those with the method GET. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Requires a key for all projects. */
  readonly allProjects?: true;
  /** Requires a root key: what it changes is the operator's. */
  readonly root?: true;
  readonly input?: InputName;
  /** The body may be omitted. */
  readonly inputOptional?: true;
  /** Default: 64 KiB. */
  readonly maxBodyBytes?: number;
  /** The parameters of the query that the OpenAPI document has. */
  readonly query?: readonly ('from' | 'to' | 'format' | 'limit' | 'cursor')[];
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly name: string;
    readonly schema: string;
    /** True for an array of the schema. */
    readonly isList?: true;
    /** The `Location` of the response says what becomes of the request. */
    readonly hasLocation?: true;
    /** The client may choose CSV. */
    readonly isAlsoCsv?: true;
  };
  /** Error statuses besides those of every operation. */
  readonly errors: readonly (400 | 404)[];
}

export const controlPrefix = '/api/sdk/v1';

/** Of every list that is read. */
const pages = { query: ['limit', 'cursor'], errors: [400, 404] } as const;

const preset = { status: 200, name: 'preset', schema: 'Preset' } as const;
const presets = { status: 200, name: 'presets', schema: 'Preset', isList: true } as const;
const layer = { status: 200, name: 'layer', schema: 'Layer' } as const;
const layers = { status: 200, name: 'layers', schema: 'Layer', isList: true } as const;
const freshness = { status: 200, name: 'freshness', schema: 'Freshness' } as const;
const origins = { status: 200, name: 'origins', schema: 'ProjectOrigin', isList: true } as const;
const limits = { status: 200, name: 'limits', schema: 'Limits' } as const;
const project = { status: 200, name: 'project', schema: 'Project' } as const;

/** By operation id. Routes, checks and the OpenAPI document are derived from this table. */
export const endpoints = {
  listProjects: {
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description:
      'The projects that the key can access: its project, or for an all-project key all projects of its organisation. Without `limit` and `cursor` all of them, by date of creation, in at most 16 MB, which are some 25,000 projects; with one of them a page, in the order of the ids.',
    query: pages.query,
    success: { status: 200, name: 'projects', schema: 'Project', isList: true },
    errors: [400],
  },
  createProject: {
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    description: 'Requires an all-project write key.',
    allProjects: true,
    input: 'CreateProjectInput',
    success: { status: 201, name: 'project', schema: 'Project' },
    errors: [400],
  },
  getProject: {
    method: 'GET',
    path: '/projects/{projectId}',
    summary: 'Read a project',
    description: 'The project, if the key is authorised for it.',
    success: project,
    errors: [404],
  },
  getProjectConfiguration: {
    method: 'GET',
    path: '/projects/{projectId}/configuration',
    summary: 'Read the delivery configuration',
    description:
      'Delivery URLs, transform defaults, the source allowlist and the supported parameters; no secrets.',
    success: { status: 200, name: 'configuration', schema: 'ProjectConfiguration' },
    errors: [404],
  },
  updateProjectSettings: {
    method: 'PATCH',
    path: '/projects/{projectId}/settings',
    summary: 'Update transform defaults',
    description: 'Changes the sent defaults, at least one.',
    input: 'ProjectSettingsInput',
    success: project,
    errors: [400, 404],
  },
  prewarmProjectImages: {
    method: 'POST',
    path: '/projects/{projectId}/prewarm',
    summary: 'Queue prewarming',
    description:
      'Queues all combinations of sources, widths and formats, or of sources and variants, for asynchronous work. Nothing is queued if a source fails the allowlist or address checks, or if the queue is full.',
    input: 'PrewarmInput',
    success: { status: 202, name: 'prewarm', schema: 'PrewarmReceipt', hasLocation: true },
    errors: [400, 404],
  },
  getProjectPrewarm: {
    method: 'GET',
    path: '/projects/{projectId}/prewarms/{prewarmId}',
    summary: 'Read the progress of prewarming',
    description:
      'What has become of a request of the last day, by the `Location` of its response. A project remembers the last 1,000.',
    success: { status: 200, name: 'prewarm', schema: 'PrewarmStatus' },
    errors: [404],
  },
  purgeProjectImages: {
    method: 'POST',
    path: '/projects/{projectId}/purge',
    summary: 'Purge images',
    description:
      'Purges the cached images of sources, or all images of the project. At most 2 seconds later no process that reaches the store serves an image made from bytes that were fetched before. Sources are purged by the URL that image URLs name, not by one to which it redirects. The URL of the watermark purges the images with it.',
    input: 'PurgeInput',
    maxBodyBytes: 1_048_576,
    success: { status: 202, name: 'purge', schema: 'PurgeReceipt', hasLocation: true },
    errors: [400, 404],
  },
  getProjectPurge: {
    method: 'GET',
    path: '/projects/{projectId}/purges/{purgeId}',
    summary: 'Read the progress of a purge',
    description:
      'What has become of a request of the last day, by the `Location` of its response. A project remembers the last 1,000. Purged images are not served before they are deleted.',
    success: { status: 200, name: 'purge', schema: 'PurgeStatus' },
    errors: [404],
  },
  getProjectFreshness: {
    method: 'GET',
    path: '/projects/{projectId}/freshness',
    summary: 'Read how images follow their sources',
    description: 'Both ages are null for a project whose images do not change.',
    success: freshness,
    errors: [404],
  },
  putProjectFreshness: {
    method: 'PUT',
    path: '/projects/{projectId}/freshness',
    summary: 'Set how images follow their sources',
    description:
      'After the source age an image is still served, and its source is asked in the background whether it has changed. The browser age is sent to browsers, and the rest of the source age to CDNs.',
    input: 'FreshnessInput',
    success: freshness,
    errors: [400, 404],
  },
  getProjectUsage: {
    method: 'GET',
    path: '/projects/{projectId}/usage',
    summary: 'Read the usage by day',
    description:
      'Requests, bytes and renders of the project on each day (UTC), of the last 30 days by default. It is at most a minute behind. As CSV with `format=csv` or `Accept: text/csv`.',
    query: ['from', 'to', 'format'],
    success: { status: 200, name: 'usage', schema: 'Usage', isAlsoCsv: true },
    errors: [400, 404],
  },
  getProjectLimits: {
    method: 'GET',
    path: '/projects/{projectId}/limits',
    summary: 'Read the limits of a day',
    description: 'Both are null for a project without limits.',
    success: limits,
    errors: [404],
  },
  putProjectLimits: {
    method: 'PUT',
    path: '/projects/{projectId}/limits',
    summary: 'Set the limits of a day',
    description:
      'Requires a root key. Beyond a limit, requests that need a render get 429 `usage_limit_reached` until the next day (UTC), and cached images are delivered. Each further process may exceed the limit of renders by one render, or by a hundredth of the limit if that is more.',
    root: true,
    input: 'LimitsInput',
    success: limits,
    errors: [400, 404],
  },
  addProjectDomain: {
    method: 'POST',
    path: '/projects/{projectId}/domains',
    summary: 'Allow a source host',
    description:
      'Adds a normalised public host name to the allowlist; adding an existing host is not an error.',
    input: 'DomainInput',
    success: project,
    errors: [400, 404],
  },
  removeProjectDomain: {
    method: 'DELETE',
    path: '/projects/{projectId}/domains',
    summary: 'Remove a source host',
    description:
      'Removes a host from the allowlist; removing a missing host is not an error. The host is in the query, which takes precedence, or in the body.',
    input: 'DomainInput',
    inputOptional: true,
    success: project,
    errors: [400, 404],
  },
  listProjectOrigins: {
    method: 'GET',
    path: '/projects/{projectId}/origins',
    summary: 'List private origins',
    description: 'The hosts whose sources need headers or are in a bucket, without any secret.',
    success: origins,
    ...pages,
  },
  putProjectOrigin: {
    method: 'PUT',
    path: '/projects/{projectId}/origins/{host}',
    summary: 'Create or replace a private origin',
    description:
      'Sets the request headers for the sources of a host, or the bucket that has them. They are encrypted, and no operation returns them. The host must be on the allowlist to be used. Cached images do not change.',
    input: 'ProjectOriginInput',
    success: { status: 200, name: 'origin', schema: 'ProjectOrigin' },
    errors: [400, 404],
  },
  deleteProjectOrigin: {
    method: 'DELETE',
    path: '/projects/{projectId}/origins/{host}',
    summary: 'Delete a private origin',
    description:
      'Returns the remaining origins; deleting a missing one is not an error. The sources of the host are fetched without headers afterwards.',
    success: origins,
    errors: [400, 404],
  },
  listProjectPresets: {
    method: 'GET',
    path: '/projects/{projectId}/presets',
    summary: 'List presets',
    description: 'The presets of the project, by name.',
    success: presets,
    ...pages,
  },
  getProjectPreset: {
    method: 'GET',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Read a preset',
    description: 'The parameters of `preset` in image URLs of the project.',
    success: preset,
    errors: [404],
  },
  putProjectPreset: {
    method: 'PUT',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Create or replace a preset',
    description:
      'Accepts the parameters of image URLs, by the same rules. Image URLs with the preset change at once.',
    input: 'PresetInput',
    success: preset,
    errors: [400, 404],
  },
  deleteProjectPreset: {
    method: 'DELETE',
    path: '/projects/{projectId}/presets/{presetName}',
    summary: 'Delete a preset',
    description:
      'Returns the remaining presets; deleting a missing preset is not an error. Image URLs with the preset fail afterwards.',
    success: presets,
    errors: [400, 404],
  },
  listProjectLayers: {
    method: 'GET',
    path: '/projects/{projectId}/layers',
    summary: 'List layers',
    description: 'The layers of the project, by name.',
    success: layers,
    ...pages,
  },
  getProjectLayer: {
    method: 'GET',
    path: '/projects/{projectId}/layers/{layerName}',
    summary: 'Read a layer',
    description: 'What `layer` in image URLs of the project draws.',
    success: layer,
    errors: [404],
  },
  putProjectLayer: {
    method: 'PUT',
    path: '/projects/{projectId}/layers/{layerName}',
    summary: 'Create or replace a layer',
    description:
      'An image on an allowed host, or a text. Fields that are not given have their defaults. Image URLs with the layer change at once.',
    input: 'LayerInput',
    success: layer,
    errors: [400, 404],
  },
  deleteProjectLayer: {
    method: 'DELETE',
    path: '/projects/{projectId}/layers/{layerName}',
    summary: 'Delete a layer',
    description:
      'Returns the remaining layers; deleting a missing layer is not an error. Image URLs with the layer fail afterwards.',
    success: layers,
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
  readonly layerName: string | null;
  readonly host: string | null;
  readonly prewarmId: string | null;
  readonly purgeId: string | null;
}

const routes = Object.entries<Endpoint>(endpoints).map(([id, endpoint]) => ({
  id: id as EndpointId,
  endpoint,
  pattern: new RegExp(
    `^${controlPrefix}${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
  ),
}));

/** The operation of a method and an undecoded path, or null. */
export function findEndpoint(method: string, path: string): Match | null {
  for (const { id, endpoint, pattern } of routes) {
    const match = endpoint.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const segment = (name: string) => decodeSegment(match.groups?.[name]);
    return {
      id,
      endpoint,
      projectId: segment('projectId'),
      presetName: segment('presetName'),
      layerName: segment('layerName'),
      host: segment('host'),
      prewarmId: segment('prewarmId'),
      purgeId: segment('purgeId'),
    };
  }
  return null;
}

/** The methods at an undecoded path. */
export function methodsAt(path: string): readonly string[] {
  return routes.flatMap(({ endpoint, pattern }) => (pattern.test(path) ? endpoint.method : []));
}

/** A malformed segment stays encoded: no project, preset or layer has such a name. */
function decodeSegment(segment: string | undefined): string | null {
  if (segment === undefined) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
