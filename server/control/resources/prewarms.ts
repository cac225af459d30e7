import { ServiceError } from '../../../contract/errors.ts';
import type { AddressGuard } from '../../../pool/source/guard.ts';
import { prewarmIdPattern } from '../../../store/identifiers.ts';
import { type Prewarms, QueueFull } from '../../../store/prewarms.ts';
import type { PresetParameters } from '../../../store/project.ts';
import type { Project } from '../../../store/projects.ts';
import { callStates } from '../../../store/records.ts';
import { isAllowedHost } from '../../image/access.ts';
import { findLayer, resolveOverlay } from '../../image/layers.ts';
import { limitOptions } from '../../image/limited-options.ts';
import { readOverlays, urlParameters } from '../../image/overlays.ts';
import { presetOptions, toTexts, withPreset } from '../../image/resolve-variant.ts';
import { toText } from '../../image/values.ts';
import { privateHostError, readSourceUrl, urlRule } from '../hosts-and-urls.ts';
import { parameterAliases, parameterFields, valueErrors } from '../image-schemas.ts';
import { itemResult, operation } from '../operation.ts';
import {
  type BodyOf,
  callbackUrl,
  count,
  type NamedSchema,
  named,
  notBoth,
  quality,
  ratio,
  ref,
  type Schema,
  sourceReference,
  strictObject,
  uri,
  type ValueOf,
} from '../schema.ts';
import { findProject, progressNotFound, type Services } from '../services.ts';
import { excerpt, rejectInvalid } from '../validation-messages.ts';
import { readCallback } from './callbacks.ts';

/** Maximum length of all variants as JSON, because each job of the request contains them. */
export const maxVariantCharacters = 8_192;

const variant = {
  type: 'object',
  description:
    'Image URL parameters by canonical name. `dpr` is a number because prewarming has no client hints.',
  properties: {
    ...parameterFields(Object.keys(urlParameters)),
    dpr: { type: 'number', minimum: 1, maximum: 3 },
  },
  additionalProperties: false,
  'x-aliases': parameterAliases,
};

/** Prewarm request fields that variants replace. */
const replacedByVariants = ['widths', 'formats', 'quality', 'fit', 'dpr'] as const;

/** Maximum variants per request. */
export const maxVariants = 50;

const inputSchema = {
  type: 'object',
  description:
    'Sources to prewarm, each in every combination of widths and formats, or in the given variants.',
  properties: {
    src: sourceReference,
    sources: {
      type: 'array',
      items: sourceReference,
      minItems: 1,
      maxItems: 20,
      description: "Source URLs, or their paths on the project's site.",
      examples: [['https://shop.example.com/a.jpg']],
    },
    widths: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 5_000 },
      minItems: 1,
      maxItems: 10,
      description: 'Image widths in pixels. Without widths, each image is as wide as its source.',
      examples: [[400, 800]],
    },
    formats: {
      type: 'array',
      items: { type: 'string', enum: ['auto', 'avif', 'webp', 'jpeg', 'png'] },
      minItems: 1,
      maxItems: 5,
      description: 'Image formats; `auto` means every format that browsers can receive.',
    },
    quality: {
      ...quality,
      description: 'Image quality, like `q` in a URL.',
      examples: [70],
    },
    fit: {
      type: 'string',
      enum: ['contain', 'cover', 'fill', 'inside'],
      description: 'Fit to the box, like `fit` in a URL.',
    },
    dpr: {
      ...ratio,
      description: 'Device pixels per CSS pixel, like `dpr` in a URL.',
      examples: [2],
    },
    variants: {
      type: 'array',
      items: ref('PrewarmVariant'),
      minItems: 1,
      maxItems: maxVariants,
      description: `Images to prewarm per source, instead of widths, formats, quality, fit and dpr; at most ${maxVariantCharacters} characters as JSON.`,
    },
    callbackUrl,
  },
  allOf: [
    {
      anyOf: [{ required: ['src'] }, { required: ['sources'] }],
      'x-rule': 'must have src or sources',
    },
    notBoth('variants', ...replacedByVariants),
  ],
  additionalProperties: false,
} as const satisfies Schema;

export interface PrewarmInput extends Omit<ValueOf<typeof inputSchema>, 'variants'> {
  readonly variants?: readonly PresetParameters[];
}

export const prewarmInput: NamedSchema<PrewarmInput> = {
  name: 'PrewarmInput',
  schema: inputSchema,
  parts: { PrewarmVariant: variant },
  example: {
    sources: ['https://shop.example.com/a.jpg', 'https://shop.example.com/b.jpg'],
    widths: [400, 800],
    formats: ['auto'],
  },
};

const receipt = named(
  'PrewarmReceipt',
  strictObject({
    // Not `const: true`: some generated clients would reject every receipt.
    accepted: { type: 'boolean', description: 'Always true.' },
    sourceCount: { type: 'integer', minimum: 1 },
    variantCount: { type: 'integer', minimum: 1 },
  }),
  { accepted: true, sourceCount: 2, variantCount: 4 },
);

const idSchema = {
  type: 'string',
  pattern: prewarmIdPattern.source,
  description: '`pre_` and 16 base-36 characters.',
} as const;

const status = named(
  'PrewarmStatus',
  {
    description: 'Status of a prewarm request.',
    ...strictObject({
      id: idSchema,
      status: {
        type: 'string',
        enum: callStates,
        description:
          '`done` and `failed` are final; `failed` means that at least one source failed.',
      },
      progress: { type: 'integer', minimum: 0, maximum: 100, description: 'Percent.' },
      sourceCount: { type: 'integer', minimum: 1 },
      variantCount: { type: 'integer', minimum: 1 },
      sources: {
        ...strictObject({ waiting: count, running: count, done: count, failed: count }),
        description: 'Source counts. Sources to be retried count as waiting.',
      },
      failures: {
        type: 'array',
        items: strictObject({ source: uri, reason: { type: 'string' } }),
        description: 'Failed sources, except sources whose jobs an operator deleted.',
      },
      createdAt: { type: 'string', format: 'date-time' },
    }),
  },
  {
    id: 'pre_9gx41acb9wtykf3m',
    status: 'failed',
    progress: 100,
    sourceCount: 2,
    variantCount: 4,
    sources: { waiting: 0, running: 0, done: 1, failed: 1 },
    failures: [
      {
        source: 'https://shop.example.com/b.jpg',
        reason:
          '3 of 3 variants are not warm. w=400 auto/avif: 404 source_not_found: The source was not found.',
      },
    ],
    createdAt: '2026-11-20T09:31:32.000Z',
  },
);

export const prewarmOperations = {
  prewarmProjectImages: operation({
    method: 'POST',
    path: '/projects/{projectId}/prewarm',
    summary: 'Queue prewarming',
    description:
      'Queues all combinations of sources, widths and formats, or of sources and variants. Nothing is queued if a source fails the allowlist or address checks, or if the queue is full. The `Location` header contains the path at which to read the progress; its last segment is the `prewarmId`.',
    input: prewarmInput,
    status: 202,
    result: itemResult('prewarm', receipt),
    hasLocation: true,
    handle: async ({ path, input, locate }, services) => {
      const project = await findProject(services, path.projectId);
      const { id, receipt } = await queuePrewarm(services, project, input);
      locate(`/projects/${project._id}/prewarms/${id}`);
      return receipt;
    },
  }),
  getProjectPrewarm: operation({
    method: 'GET',
    path: '/projects/{projectId}/prewarms/{prewarmId}',
    parameters: { prewarmId: { schema: idSchema, example: status.example.id } },
    summary: 'Read the progress of prewarming',
    description:
      'Returns the status of a prewarm request from the last day. The id is the last segment of the `Location` header of its response. A project keeps the last 1,000 requests.',
    result: itemResult('prewarm', status),
    handle: async ({ path: { projectId, prewarmId } }, services) => {
      await findProject(services, projectId);
      const prewarm = await services.prewarms.find(projectId, prewarmId);
      return prewarm ?? progressNotFound('prewarm_not_found', 'prewarming', prewarmId);
    },
  }),
};

/**
 * Queues one prewarm job per source, or no jobs if any source is invalid or too many jobs would
 * wait.
 * @returns the id for querying the progress, and the response
 * @throws ServiceError invalid_request naming every invalid source and variant; preset_not_found;
 *   layer_not_found; prewarm_queue_full
 */
export async function queuePrewarm(
  services: Pick<Services, 'guard' | 'callbacks'> & { readonly prewarms: Pick<Prewarms, 'add'> },
  project: Project,
  input: PrewarmInput,
): Promise<{ readonly id: string; readonly receipt: BodyOf<typeof receipt> }> {
  const { guard, prewarms } = services;
  const errors = variantErrors(input.variants ?? []);
  rejectInvalid(errors);
  const sources = new Set<string>();
  const read = (text: string, field: string) => {
    const source = readSourceUrl(text, project);
    const error = sourceError(source, project, guard);
    if (error !== null) errors.push(`${field} (${excerpt(text)}) ${error}`);
    else if (source !== null) sources.add(source.href);
  };
  if (input.src !== undefined) read(input.src, 'src');
  for (const [index, text] of (input.sources ?? []).entries()) read(text, `sources[${index}]`);
  for (const [index, variant] of (input.variants ?? combinations(input)).entries()) {
    const urlError = (url: URL) => sourceError(url, project, guard);
    const subject =
      input.variants === undefined ? 'widths, formats or quality' : `variants[${index}]`;
    errors.push(...optionErrors(variant, subject, project, urlError));
  }
  rejectInvalid(errors);
  const callbackUrl = await readCallback(input.callbackUrl, project._id, services);

  // Sort, because the queue compares job data to find duplicates.
  const variants = [...new Set((input.variants ?? combinations(input)).map(variantQuery))].sort();
  const call = { projectId: project._id, sources: [...sources], variants, callbackUrl };
  const sourceCount = sources.size;
  const variantCount = sourceCount * variants.length;
  try {
    const id = await prewarms.add(call);
    return { id, receipt: { accepted: true, sourceCount, variantCount } };
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    const { waiting, added, maxWaiting } = error;
    const message = `The project has ${waiting} sources waiting to be prewarmed, of at most ${maxWaiting}; this request would add ${added}. Nothing was queued.`;
    throw new ServiceError('prewarm_queue_full', message);
  }
}

/** Returns the variants in all widths and formats. */
function combinations(input: PrewarmInput): PresetParameters[] {
  const { widths, formats = ['auto'], quality, fit, dpr } = input;
  const sizes = widths?.map((w) => ({ w })) ?? [{}];
  const shared = {
    ...(quality !== undefined && { q: quality }),
    ...(fit !== undefined && { fit }),
    ...(dpr !== undefined && { dpr }),
  };
  return sizes.flatMap((size) => formats.map((fmt) => ({ ...size, fmt, ...shared })));
}

/**
 * Returns the rule that a source breaks, or null, by the image endpoint's checks in the same order.
 */
function sourceError(source: URL | null, project: Project, guard: AddressGuard): string | null {
  if (source === null) return urlRule;
  const { hostname } = source;
  if (!isAllowedHost(project, hostname)) return `must be on an allowed host; ${hostname} is not`;
  return privateHostError(source, guard);
}

/** Returns, in words, the errors in variants that the schema cannot find. */
function variantErrors(variants: readonly PresetParameters[]): string[] {
  if (JSON.stringify(variants).length > maxVariantCharacters) {
    return [`variants must have at most ${maxVariantCharacters} characters as JSON`];
  }
  return variants.flatMap((variant, index) =>
    valueErrors(variant, `variants[${index}]`, urlParameters),
  );
}

/**
 * Returns the errors of a variant with valid values, including its preset's.
 * @param urlError the rule that a URL breaks, or null
 * @throws ServiceError preset_not_found, layer_not_found
 */
function optionErrors(
  variant: PresetParameters,
  subject: string,
  project: Project,
  urlError: (url: URL) => string | null,
): string[] {
  const given = presetOptions(variant);
  const options = withPreset(given, project);
  const { dpr, fallback, layer = [] } = options;
  for (const name of layer) findLayer(project, name);
  const error = fallback === undefined ? null : urlError(new URL(fallback));
  return [
    ...refusals(() => {
      const ratio = typeof dpr === 'number' ? dpr : project.defaultDpr;
      limitOptions({ options: given, texts: new Map() }, options, project, ratio, true);
      for (const overlay of readOverlays(toTexts(variant), options.overlay)) {
        resolveOverlay(overlay, project, project.requireSignedUrls);
      }
    }).map((reason) => `${subject}: ${reason}`),
    ...(dpr === 'auto' ? [`${subject}.dpr must be a number: prewarming has no client hints`] : []),
    ...(error === null ? [] : [`${subject}.fallback ${error}`]),
  ];
}

/** Returns the reason why a project's URLs cannot request an image. */
function refusals(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return [error.message.replace(/\.$/, '')];
    throw error;
  }
}

/** Returns the parameters of a variant's URL as a query, the same for equal parameters. */
function variantQuery(variant: PresetParameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(variant)) query.set(name, toText(value));
  query.sort();
  return query.toString();
}
