import type { ExtendedJSONSchema, FromExtendedSchema } from 'json-schema-to-ts';
import { canonicalHostPatternSource, hostTextSource } from '../../contract/hosts.ts';
import { cacheTiers } from '../../pool/tiers.ts';
import {
  organisationIdPattern,
  prewarmIdPattern,
  projectIdPattern,
} from '../../store/identifiers.ts';
import type { StoredLayer } from '../../store/layer.ts';
import { type PresetParameters, presetNamePattern } from '../../store/preset.ts';
import { projectFits, watermarkPositions } from '../../store/projects.ts';
import type { LayerKind } from '../image/layer-fields.ts';
import { bareHostRule } from './hosts-and-urls.ts';
import { maxVariantCharacters } from './prewarm-variants.ts';

/**
 * The schemas of the control plane's bodies: requests are validated with them, the TypeScript types are
 * derived from them, and the OpenAPI document contains them.
 *
 * `x-rule` states the rule of an `anyOf` or a `pattern` in words. An `anyOf` is inside an `allOf`, because
 * client generators read an `anyOf` next to `properties` as an alternative to the properties.
 */
type Extension = { 'x-rule'?: string };
type Schema = ExtendedJSONSchema<Extension>;

const colour = { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' } as const;
const uri = { type: 'string', format: 'uri' } as const;
const percent = { type: 'integer', minimum: 1, maximum: 100 } as const;
const quality = { type: 'integer', minimum: 30, maximum: 100 } as const;
const ratio = { type: 'integer', minimum: 1, maximum: 3 } as const;
const margin = { type: 'integer', minimum: 0, maximum: 500 } as const;
const fit = { type: 'string', enum: projectFits } as const;
const position = { type: 'string', enum: watermarkPositions } as const;
const maxAgeSeconds = 31_536_000;
/** As in responses: in canonical form. */
const hosts = {
  type: 'array',
  items: { type: 'string', pattern: canonicalHostPatternSource },
} as const;
/** As in requests: also in upper case, internationalised, with a trailing dot. */
const hostText = { type: 'string', pattern: hostTextSource, 'x-rule': bareHostRule } as const;
/** Of a bucket. One with a line break, which is easily pasted too, could not be sent. */
const credential = {
  type: 'string',
  minLength: 1,
  pattern: '^[!-~]*$',
  'x-rule': 'must have only visible ASCII characters, without spaces',
  writeOnly: true,
} as const;
const nullableUri = { type: ['string', 'null'], format: 'uri' } as const;

/** An object with exactly these fields, all of them required. */
const closed = <const P extends Readonly<Record<string, Schema>>>(properties: P) =>
  ({
    type: 'object',
    properties,
    required: Object.keys(properties) as (keyof P & string)[],
    additionalProperties: false,
  }) as const;

/** An optional limit. */
const limit = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;
const limits = {
  description: 'The most that a project may use on a day (UTC); null for no limit.',
  ...closed({
    rendersPerDay: { ...limit, description: 'Renders, with those of prewarming.' },
    bytesPerDay: { ...limit, description: 'Bytes of delivered images.' },
  }),
} as const satisfies Schema;

const freshness = {
  description: 'How the images of a project follow their sources. Ages are in seconds.',
  ...closed({
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
        "Time after which a source is asked whether it has changed; `origin` follows the origin's Cache-Control, and null never asks. The operator sets bounds.",
    },
    browserAge: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: maxAgeSeconds,
      description: 'Time for which browsers keep an image; null for a year.',
    },
  }),
} as const satisfies Schema;

export const projectIdSchema = {
  type: 'string',
  pattern: projectIdPattern.source,
  description: '`prj_` and 16 base-36 characters.',
} as const satisfies Schema;

export const prewarmIdSchema = {
  type: 'string',
  pattern: prewarmIdPattern.source,
  description: '`pre_` and 16 base-36 characters.',
} as const satisfies Schema;

export const purgeIdSchema = {
  type: 'string',
  pattern: '^[0-9]{1,16}$',
  description: 'The number of the purge, which the log names too.',
} as const satisfies Schema;

export const originHostSchema = {
  type: 'string',
  description: 'A host name without wildcard, with its port if it is not 443 or 80.',
} as const satisfies Schema;

const count = { type: 'integer', minimum: 0 } as const;
const seconds = { type: 'number', minimum: 0, description: 'Time on transform threads.' } as const;
const date = { type: 'string', format: 'date', description: 'UTC.' } as const;
const hitCounts = Object.fromEntries(cacheTiers.map((tier) => [tier, count])) as Readonly<
  Record<(typeof cacheTiers)[number], typeof count>
>;
const usageCounts = {
  requests: { ...count, description: 'Image requests, without those of prewarming.' },
  hits: { ...closed(hitCounts), description: 'Requests by the cache that had the image.' },
  misses: { ...count, description: 'Requests that waited for a render.' },
  errors: { ...count, description: 'Requests without an image, also of clients that left.' },
  bytes: { ...count, description: 'Bytes of the bodies with images.' },
  renders: { ...count, description: 'Transforms, also those that failed.' },
  renderSeconds: seconds,
  background: {
    ...closed({ requests: count, renders: count, renderSeconds: seconds }),
    description: 'Prewarming, which is not in the other counts.',
  },
} as const;
const callbackUrl = {
  ...uri,
  maxLength: 2_048,
  description: 'An http or https URL that gets a signed request at the end.',
} as const satisfies Schema;

/** The bodies by their names in the OpenAPI document, without those of presets. */
export const bodySchemas = {
  Project: {
    description: 'A project: transform defaults and the hosts that sources may come from.',
    ...closed({
      id: projectIdSchema,
      orgId: {
        type: 'string',
        pattern: organisationIdPattern.source,
        description: '`org_` and 16 base-36 characters.',
      },
      name: { type: 'string' },
      origin: uri,
      allowedOrigins: {
        ...hosts,
        description: 'Hosts; `*.example.com` allows all its subdomains.',
      },
      color1: colour,
      color2: colour,
      autoFormat: { type: 'boolean' },
      defaultQuality: quality,
      defaultDpr: ratio,
      defaultFit: fit,
      maxWidth: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: 10_000,
        description: 'Device pixels; null for no limit.',
      },
      requireSignedUrls: { type: 'boolean' },
      signedUrlTtlSeconds: { type: ['integer', 'null'], minimum: 60, maximum: 2_592_000 },
      stripMetadata: { type: 'boolean' },
      watermarkEnabled: { type: 'boolean' },
      watermarkUrl: nullableUri,
      watermarkPosition: position,
      watermarkOpacity: { ...percent, description: 'Percent.' },
      watermarkScale: { ...percent, description: "Percent of the output's width." },
      watermarkMargin: { ...margin, description: 'Pixels.' },
      createdAt: { type: 'string', description: 'For display, such as `November 20, 2026` (UTC).' },
    }),
  },
  ProjectConfiguration: {
    description: 'The configuration that an integration needs to build delivery URLs.',
    ...closed({
      projectId: projectIdSchema,
      projectName: { type: 'string' },
      origin: uri,
      allowedOrigins: hosts,
      imageBaseUrl: uri,
      transformUrlTemplate: { type: 'string', description: 'A URI template (RFC 6570).' },
      defaults: closed({
        autoFormat: { type: 'boolean' },
        defaultQuality: { type: 'integer' },
        stripMetadata: { type: 'boolean' },
        watermarkEnabled: { type: 'boolean' },
      }),
      watermark: closed({
        enabled: { type: 'boolean' },
        margin,
        opacity: percent,
        position,
        scale: percent,
        url: nullableUri,
      }),
      supportedParameters: { type: 'array', items: { type: 'string' } },
    }),
  },
  CreateProjectInput: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 80 },
      origin: { ...uri, description: "The site's http or https address; its host is allowed." },
      allowedOrigins: {
        type: 'array',
        items: hostText,
        description: 'Other hosts that sources may come from; at most 1000 hosts in all.',
      },
    },
    required: ['name', 'origin'],
    additionalProperties: false,
  },
  ProjectSettingsInput: {
    type: 'object',
    description: 'Transform defaults to change; the others do not change.',
    properties: {
      autoFormat: { type: 'boolean' },
      defaultQuality: quality,
      defaultDpr: ratio,
      defaultFit: fit,
      maxWidth: {
        type: 'integer',
        minimum: 0,
        maximum: 10_000,
        description: '0 removes the limit.',
      },
      stripMetadata: { type: 'boolean' },
      watermarkEnabled: { type: 'boolean' },
      watermarkUrl: {
        type: 'string',
        allOf: [
          { anyOf: [{ maxLength: 0 }, { format: 'uri' }], 'x-rule': 'must be empty or a URI' },
        ],
        description:
          'An http or https URL of an image, which is fetched and decoded when it changes; the empty string removes it.',
      },
      watermarkPosition: position,
      watermarkOpacity: percent,
      watermarkScale: percent,
      watermarkMargin: margin,
    },
    minProperties: 1,
    additionalProperties: false,
  },
  PrewarmInput: {
    type: 'object',
    description:
      'Sources to warm, each in every combination of widths and formats, or in the given variants.',
    properties: {
      src: uri,
      sources: { type: 'array', items: uri, minItems: 1, maxItems: 20 },
      widths: {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: 5_000 },
        minItems: 1,
        maxItems: 10,
      },
      formats: {
        type: 'array',
        items: { type: 'string', enum: ['auto', 'avif', 'webp', 'jpeg', 'png'] },
        minItems: 1,
        maxItems: 5,
      },
      quality,
      fit: { type: 'string', enum: ['contain', 'cover', 'fill', 'inside'] },
      dpr: ratio,
      variants: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: { type: ['string', 'number', 'boolean'] },
        },
        minItems: 1,
        maxItems: 50,
        description: `Images to warm of each source, instead of widths, formats, quality, fit and dpr; at most ${maxVariantCharacters} characters as JSON.`,
      },
      callbackUrl,
    },
    allOf: [
      {
        anyOf: [{ required: ['src'] }, { required: ['sources'] }],
        'x-rule': 'must have src or sources',
      },
    ],
    additionalProperties: false,
  },
  PrewarmReceipt: closed({
    // Not `const: true`: some generated clients would reject every receipt.
    accepted: { type: 'boolean', description: 'Always true.' },
    sourceCount: { type: 'integer', minimum: 1 },
    variantCount: { type: 'integer', minimum: 1 },
  }),
  PrewarmStatus: {
    description: 'What has become of a prewarm request.',
    ...closed({
      id: prewarmIdSchema,
      status: {
        type: 'string',
        enum: ['accepted', 'done', 'failed'],
        description: '`done` and `failed` are final; `failed` when at least one source failed.',
      },
      progress: { type: 'integer', minimum: 0, maximum: 100, description: 'Percent.' },
      sourceCount: { type: 'integer', minimum: 1 },
      variantCount: { type: 'integer', minimum: 1 },
      sources: {
        ...closed({ waiting: count, running: count, done: count, failed: count }),
        description: 'Numbers of sources. One that is retried waits.',
      },
      failures: {
        type: 'array',
        items: closed({ source: uri, reason: { type: 'string' } }),
        description: 'The sources that failed, without those whose jobs an operator deleted.',
      },
      createdAt: { type: 'string', format: 'date-time' },
    }),
  },
  PurgeInput: {
    type: 'object',
    description: 'Either sources, or all images of the project.',
    properties: {
      sources: { type: 'array', items: uri, minItems: 1, maxItems: 100 },
      all: { type: 'boolean', description: 'true purges all images of the project.' },
      callbackUrl,
    },
    allOf: [
      {
        anyOf: [{ required: ['sources'] }, { required: ['all'] }],
        'x-rule': 'must have sources or all',
      },
    ],
    additionalProperties: false,
  },
  PurgeReceipt: closed({
    accepted: { type: 'boolean', description: 'Always true.' },
    sourceCount: { type: 'integer', minimum: 0, description: '0 for all images.' },
  }),
  PurgeStatus: {
    description: 'What has become of a purge.',
    ...closed({
      id: purgeIdSchema,
      status: {
        type: 'string',
        enum: ['accepted', 'done', 'failed'],
        description:
          '`done` when a machine has deleted the images and the purge hook, if any, was called; `failed` when it could not be called for a day.',
      },
      sourceCount: { type: 'integer', minimum: 0, description: '0 for all images.' },
      hook: closed({
        status: { type: 'string', enum: ['none', 'waiting', 'done', 'failed'] },
        reason: { type: 'string', description: 'Why the last call failed, or empty.' },
      }),
      machines: {
        type: 'array',
        items: closed({
          name: { type: 'string' },
          images: { ...count, description: 'With those of purges of the same seconds.' },
          deletedAt: { type: 'string', format: 'date-time' },
        }),
        description: 'The machines that have deleted the images from their disks.',
      },
      createdAt: { type: 'string', format: 'date-time' },
    }),
  },
  Freshness: freshness,
  FreshnessInput: freshness,
  ProjectOrigin: {
    description: 'How the sources of a host are fetched, without any secret.',
    ...closed({
      host: originHostSchema,
      headers: {
        type: 'array',
        items: { type: 'string' },
        description: 'The names of the request headers, in lower case.',
      },
      location: {
        type: ['string', 'null'],
        description: 'The bucket that has the sources; null for an HTTP origin.',
      },
      updatedAt: { type: 'string', format: 'date-time' },
    }),
  },
  ProjectOriginInput: {
    type: 'object',
    description: 'Either request headers, or a bucket.',
    properties: {
      headers: {
        type: 'object',
        additionalProperties: { type: 'string', writeOnly: true },
        minProperties: 1,
        maxProperties: 16,
        description:
          'Request headers by name; at most 8 KiB, with values of visible ASCII characters.',
      },
      s3: {
        ...closed({
          location: {
            type: 'string',
            maxLength: 2_048,
            description:
              '`s3://bucket/prefix?region=…` of AWS, or `s3://bucket/prefix?endpoint=https://…` of another service.',
          },
          accessKeyId: { ...credential, maxLength: 256 },
          secretAccessKey: { ...credential, maxLength: 1_024 },
        }),
        description: 'A bucket, and credentials that may read its objects.',
      },
    },
    allOf: [
      {
        anyOf: [{ required: ['headers'] }, { required: ['s3'] }],
        'x-rule': 'must have headers or s3',
      },
    ],
    additionalProperties: false,
  },
  Usage: {
    description: 'The usage of a project by day, with days without requests.',
    ...closed({
      from: date,
      to: date,
      days: { type: 'array', items: closed({ date, ...usageCounts }) },
      total: closed(usageCounts),
    }),
  },
  Limits: limits,
  LimitsInput: limits,
  DomainInput: closed({
    host: {
      ...hostText,
      description: 'A bare host name; `*.example.com` allows all its subdomains.',
    },
  }),
} as const satisfies Readonly<Record<string, Schema>>;

/** The type of a body. */
export type Body<N extends keyof typeof bodySchemas> = FromExtendedSchema<
  Extension,
  (typeof bodySchemas)[N]
>;

/** @param variantSchema the schema of a variant, or a reference to it */
export const prewarmInputSchema = (variantSchema: object) => {
  const { properties, ...schema } = bodySchemas.PrewarmInput;
  const variants = { ...properties.variants, items: variantSchema };
  return { ...schema, properties: { ...properties, variants } };
};

export const presetNameSchema = {
  type: 'string',
  pattern: presetNamePattern,
  description: 'A lower-case letter, and up to 39 lower-case letters, digits, - and _.',
} as const satisfies Schema;

/** @param parameters their schema, or a reference to it */
export const presetInputSchema = (parameters: object) =>
  ({
    type: 'object',
    properties: { parameters },
    required: ['parameters'],
    additionalProperties: false,
  }) as const;

/** @param parameters as above */
export const presetSchema = (parameters: object) => ({
  type: 'object',
  description: 'Image parameters under a name.',
  properties: { name: presetNameSchema, parameters },
  required: ['name', 'parameters'],
  additionalProperties: false,
});

export interface PresetInput {
  readonly parameters: PresetParameters;
}
export interface Preset extends PresetInput {
  readonly name: string;
}

/** The names of layers follow the rules of those of presets. */
export const layerNameSchema = presetNameSchema;

/** The schemas of the fields of both kinds of layers, or references to them. */
type LayerKindSchemas = Readonly<Record<LayerKind, object>>;

export const layerInputSchema = (kinds: LayerKindSchemas) => ({
  type: 'object',
  description: 'Either an image or a text.',
  properties: kinds,
  allOf: [
    {
      anyOf: [{ required: ['image'] }, { required: ['text'] }],
      'x-rule': 'must have image or text',
    },
  ],
  additionalProperties: false,
});

export const layerSchema = (kinds: LayerKindSchemas) => ({
  type: 'object',
  description: 'An image or a text under a name, to draw on pictures.',
  properties: { name: layerNameSchema, ...kinds },
  required: ['name'],
  additionalProperties: false,
});

export type LayerInput = StoredLayer;
export interface Layer extends LayerInput {
  readonly name: string;
}
