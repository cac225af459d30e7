import { ServiceError } from '../../../contract/errors.ts';
import { newProjectSettings, type Project, type ProjectSettings } from '../../../store/projects.ts';
import { urlParameters } from '../../image/overlays.ts';
import { maxSourceLength, presigningParameters } from '../../image/source-url.ts';
import {
  bareHostError,
  privateHostError,
  readAllowedHost,
  readHostPattern,
  readUrl,
  urlRule,
} from '../hosts-and-urls.ts';
import { queryReader } from '../input.ts';
import { itemResult, operation, optional } from '../operation.ts';
import { exampleProject, otherFields, project, projectBody } from '../project-body.ts';
import {
  type BodyOf,
  fit,
  httpUrl,
  margin,
  named,
  nullableUri,
  percent,
  position,
  projectIdParameter,
  quality,
  ratio,
  type Schema,
  strictObject,
  texts,
  uri,
  type ValueOf,
} from '../schema.ts';
import { findProject, reportProjectChange, type Services } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';
import { requireRoom } from './projects.ts';

const settingsInput = named(
  'ProjectSettingsInput',
  {
    type: 'object',
    description: 'Transform defaults to change; all others stay the same.',
    properties: {
      autoFormat: {
        type: 'boolean',
        description: 'Choose the format from the Accept header if the URL has no `fmt`.',
      },
      defaultQuality: {
        ...quality,
        description: 'Quality if the URL has no `q`. Higher values make larger files.',
        examples: [70],
      },
      defaultDpr: {
        ...ratio,
        description: 'Device pixels per CSS pixel if the URL has no `dpr`.',
        examples: [2],
      },
      defaultFit: { ...fit, description: 'Fit to the box if the URL has no `fit`.' },
      maxWidth: {
        type: 'integer',
        minimum: 0,
        maximum: 10_000,
        description: 'Maximum image width in pixels; 0 removes the limit.',
        examples: [2_000],
      },
      stripMetadata: {
        type: 'boolean',
        description: 'Remove EXIF, XMP and IPTC metadata, such as the location of a photo.',
      },
      watermarkEnabled: { type: 'boolean', description: 'Draw the watermark on all images.' },
      watermarkUrl: {
        type: 'string',
        maxLength: maxSourceLength,
        allOf: [
          {
            anyOf: [{ maxLength: 0 }, { format: 'uri', pattern: httpUrl.pattern }],
            'x-rule': 'must be empty or an absolute http or https URL',
          },
        ],
        description:
          'http or https URL of an image. The service fetches and decodes a new URL before accepting it. An empty string removes the watermark.',
        examples: ['https://shop.example.com/logo.png'],
      },
      watermarkPosition: {
        ...position,
        description: 'Edge or corner of the image for the watermark.',
      },
      watermarkOpacity: {
        ...percent,
        description: 'Watermark opacity in percent.',
        examples: [60],
      },
      watermarkScale: {
        ...percent,
        description: 'Watermark width as a percentage of the image width.',
        examples: [20],
      },
      watermarkMargin: {
        ...margin,
        description: 'Distance between the watermark and the image edges, in pixels.',
        examples: [16],
      },
    },
    minProperties: 1,
    additionalProperties: false,
    'x-aliases': otherFields(Object.keys(newProjectSettings)),
  },
  { defaultQuality: 70, maxWidth: 2_000 },
);

export const settingsOperations = {
  updateProjectSettings: operation({
    method: 'PATCH',
    path: '/projects/{projectId}/settings',
    summary: 'Update transform defaults',
    description: 'Changes the given defaults, at least one.',
    input: settingsInput,
    waitsForOrigin: true,
    result: itemResult('project', project),
    handle: async ({ path, input, signal }, services) =>
      projectBody(await updateSettings(services, path.projectId, input, signal)),
  }),
};

/** @param signal aborts when the client disconnects */
export async function updateSettings(
  services: Pick<Services, 'projects' | 'guard' | 'checkWatermark' | 'onChange'>,
  id: string,
  input: BodyOf<typeof settingsInput>,
  signal: AbortSignal,
): Promise<Project> {
  const settings: { -readonly [N in keyof ProjectSettings]?: ProjectSettings[N] } = { ...input };
  if (input.maxWidth === 0) settings.maxWidth = null;
  if (input.watermarkUrl === '') settings.watermarkUrl = null;
  else if (input.watermarkUrl !== undefined) {
    await checkWatermark(services, id, input.watermarkUrl, signal);
  }
  return reportProjectChange(services, id, services.projects.updateSettings(id, settings));
}

/**
 * Rejects a watermark that would fail on every image. Does not fetch the current watermark again.
 */
async function checkWatermark(
  services: Pick<Services, 'projects' | 'guard' | 'checkWatermark'>,
  id: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const url = readUrl(text);
  if (url === null) throw invalidRequest(`watermarkUrl ${urlRule}`);
  const hostError = privateHostError(url, services.guard);
  if (hostError !== null) throw invalidRequest(`watermarkUrl ${hostError}`);
  const project = await findProject(services, id);
  if (project.watermarkUrl === text) return;
  try {
    await services.checkWatermark(project, url, signal);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
    if (error.code === 'overloaded') {
      const busy = 'The watermark could not be checked because the service is busy.';
      throw new ServiceError('overloaded', busy, error);
    }
    throw invalidRequest(`watermarkUrl must be an image that can be fetched. ${error.message}`);
  }
}

const maxAgeSeconds = 31_536_000;

const presets = Object.keys(presigningParameters)
  .map((name) => `\`${name}\``)
  .join(', ');

const freshnessObject = {
  description: "How a project's images follow their sources. Ages are in seconds.",
  ...strictObject({
    sourceAge: {
      allOf: [
        {
          anyOf: [
            { type: 'integer', minimum: 1, maximum: maxAgeSeconds },
            { type: 'string', enum: ['origin'] },
            { type: 'null' },
          ],
          'x-rule': `must be a whole number from 1 to ${maxAgeSeconds}, "origin" or null`,
        },
      ],
      description:
        "Seconds until the service revalidates a source; null for never. `origin` follows the origin's Cache-Control. The operator sets bounds.",
      examples: [300],
    },
    browserAge: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: maxAgeSeconds,
      description: 'Seconds that browsers keep an image; null for a year.',
      examples: [60],
    },
    missingAge: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 86_400,
      description:
        "Seconds that browsers and CDNs keep a missing source (404 and 410) and a fallback; 0 for never, null for the operator's setting.",
      examples: [30],
    },
    ignoredParameters: {
      type: ['array', 'null'],
      items: {
        type: 'string',
        pattern: '^[A-Za-z0-9._~-]{1,64}$',
        'x-rule': 'must be a name of at most 64 letters, digits and . _ ~ -',
      },
      minItems: 1,
      maxItems: 20,
      description: `Query parameters of sources that do not identify the picture, such as signatures: requests that differ only in them get the same image. ${presets} stand for those of presigned URLs. A change purges all images.`,
      examples: [['aws']],
    },
  }),
} as const;

const freshness = named('Freshness', freshnessObject, {
  sourceAge: 300,
  browserAge: 60,
  missingAge: 30,
  ignoredParameters: ['aws'],
});

const freshnessInput = named(
  'FreshnessInput',
  { ...freshnessObject, required: ['sourceAge', 'browserAge'] },
  { sourceAge: 300, browserAge: 60 },
);

const freshnessBody = ({ freshness: set }: Project): BodyOf<typeof freshness> => ({
  sourceAge: null,
  browserAge: null,
  missingAge: null,
  ...set,
  ignoredParameters: set?.ignoredParameters ? [...set.ignoredParameters] : null,
});

export const freshnessOperations = {
  getProjectFreshness: operation({
    method: 'GET',
    path: '/projects/{projectId}/freshness',
    summary: 'Read the freshness settings',
    description:
      "Returns the source age and the browser age; both are null if the project's images do not follow their sources.",
    result: itemResult('freshness', freshness),
    handle: async ({ path }, services) =>
      freshnessBody(await findProject(services, path.projectId)),
  }),
  putProjectFreshness: operation({
    method: 'PUT',
    path: '/projects/{projectId}/freshness',
    summary: 'Set the freshness settings',
    description:
      'Images older than the source age are still served while the service revalidates their source in the background. Browsers receive the browser age; CDNs receive the remaining source age.',
    input: freshnessInput,
    result: itemResult('freshness', freshness),
    handle: async ({ path: { projectId }, input }, services) => {
      const change = services.projects.setFreshness(projectId, input);
      return freshnessBody(await reportProjectChange(services, projectId, change));
    },
  }),
};

const limit = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

const limitsObject = {
  description:
    "A project's maximum usage per day (UTC), and what its image URLs can request; null for no limit.",
  ...strictObject({
    rendersPerDay: {
      ...limit,
      description: 'Renders, including prewarming.',
      examples: [10_000],
    },
    bytesPerDay: {
      ...limit,
      description: 'Bytes of delivered images.',
      examples: [5_000_000_000],
    },
    onlyPresets: {
      type: 'boolean',
      description:
        'Whether a URL must name a preset. It can then also contain only `v`, `fallback`, `download`, `filename` and parameters with a list.',
    },
    widths: {
      type: ['array', 'null'],
      items: { type: 'integer', minimum: 1, maximum: 10_000 },
      minItems: 1,
      maxItems: 50,
      description: 'Allowed values of `w` × `dpr` and `minw` × `dpr` in URLs.',
      examples: [[320, 640, 1_280]],
    },
    qualities: {
      type: ['array', 'null'],
      items: { type: 'integer', minimum: 1, maximum: 100 },
      minItems: 1,
      maxItems: 20,
      description: 'Allowed values of `q` in URLs, besides `auto`.',
      examples: [[50, 75]],
    },
    unlisted: {
      type: 'string',
      enum: ['nearest', 'refuse'],
      description: 'A value outside a list becomes the nearest one, or gets 400.',
    },
  }),
} as const;

const noLimits = {
  rendersPerDay: null,
  bytesPerDay: null,
  onlyPresets: false,
  widths: null,
  qualities: null,
  unlisted: 'nearest',
} as const;

const limits = named('Limits', limitsObject, { ...noLimits, rendersPerDay: 10_000 });

const limitsInput = named(
  'LimitsInput',
  { ...limitsObject, required: ['rendersPerDay', 'bytesPerDay'] },
  { rendersPerDay: 10_000, bytesPerDay: null },
);

const limitsBody = ({ limits: set }: Project): BodyOf<typeof limits> => ({
  ...noLimits,
  ...set,
  widths: set?.widths ? [...set.widths] : null,
  qualities: set?.qualities ? [...set.qualities] : null,
});

export const limitOperations = {
  getProjectLimits: operation({
    method: 'GET',
    path: '/projects/{projectId}/limits',
    summary: 'Read the limits',
    description: 'Returns the daily limits and what URLs can request; null means no limit.',
    result: itemResult('limits', limits),
    handle: async ({ path }, services) => limitsBody(await findProject(services, path.projectId)),
  }),
  putProjectLimits: operation({
    method: 'PUT',
    path: '/projects/{projectId}/limits',
    summary: 'Set the limits',
    description:
      'Requires a root key. Above a limit, requests that need a render get 429 `usage_limit_reached` until the next day (UTC); cached images are still delivered. Each additional process can exceed the render limit by one render or 1% of the limit, whichever is more. The other fields limit what image URLs can request, including those of other services and of prewarming.',
    scope: 'root',
    input: limitsInput,
    result: itemResult('limits', limits),
    handle: async ({ path: { projectId }, input }, services) => {
      const change = services.projects.setLimits(projectId, input);
      return limitsBody(await reportProjectChange(services, projectId, change));
    },
  }),
};

const host = {
  type: 'string',
  description: 'A bare host name; `*.example.com` allows all its subdomains.',
} as const;

const domainInput = named('DomainInput', strictObject({ host }), { host: 'static.example.com' });

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
      const change = services.projects.removeHost(projectId, readRemovedHost(query, input));
      return projectBody(await reportProjectChange(services, projectId, change));
    },
  }),
};

async function addHost(services: Services, id: string, text: string): Promise<Project> {
  const result = readAllowedHost(text, services.guard);
  if ('error' in result) throw invalidRequest(`host ${result.error}`);
  const check = (project: Project) => requireRoom(project, result.host);
  return reportProjectChange(services, id, services.projects.addHost(id, result.host, check));
}

/**
 * Accepts hosts that could no longer be added, because the rules might have changed.
 * @throws ServiceError invalid_request
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

const configurationSchema = {
  description: 'Configuration for integrations that build delivery URLs.',
  ...strictObject({
    projectId: projectIdParameter.schema,
    projectName: { type: 'string' },
    origin: uri,
    allowedOrigins: texts,
    imageBaseUrl: uri,
    transformUrlTemplate: { type: 'string', description: 'A URI template (RFC 6570).' },
    defaults: strictObject({
      autoFormat: { type: 'boolean' },
      defaultQuality: { type: 'integer' },
      stripMetadata: { type: 'boolean' },
      watermarkEnabled: { type: 'boolean' },
    }),
    watermark: strictObject({
      enabled: { type: 'boolean' },
      margin,
      opacity: percent,
      position,
      scale: percent,
      url: nullableUri,
    }),
    supportedParameters: texts,
  }),
} as const satisfies Schema;

/** The configuration that an integration needs to build delivery URLs. */
export function configurationBody(
  project: Project,
  baseUrl: string,
): ValueOf<typeof configurationSchema> {
  const { autoFormat, defaultQuality, stripMetadata, watermarkEnabled } = project;
  return {
    projectId: project._id,
    projectName: project.name,
    origin: project.origin,
    allowedOrigins: [...project.allowedOrigins],
    imageBaseUrl: `${baseUrl}/img`,
    transformUrlTemplate: `${baseUrl}/img/{source}?project=${project._id}{&w,h,q,fmt,fit,dpr,blur}`,
    defaults: { autoFormat, defaultQuality, stripMetadata, watermarkEnabled },
    watermark: {
      enabled: watermarkEnabled,
      margin: project.watermarkMargin,
      opacity: project.watermarkOpacity,
      position: project.watermarkPosition,
      scale: project.watermarkScale,
      url: project.watermarkUrl,
    },
    supportedParameters: Object.keys(urlParameters),
  };
}

const configuration = named(
  'ProjectConfiguration',
  configurationSchema,
  configurationBody(exampleProject, 'https://images.example.com'),
);

export const configurationOperations = {
  getProjectConfiguration: operation({
    method: 'GET',
    path: '/projects/{projectId}/configuration',
    summary: 'Read the delivery configuration',
    description:
      'Delivery URLs, transform defaults, the source allowlist and the supported parameters; no secrets.',
    result: itemResult('configuration', configuration),
    handle: async ({ path }, services) =>
      configurationBody(await findProject(services, path.projectId), services.baseUrl),
  }),
};
