import t from 'tap';
import { canonicalHostPatternSource, hostTextSource } from '../../../contract/hosts.ts';
import {
  createProjectSchema,
  domainSchema,
  prewarmReceiptSchema,
  prewarmSchema,
  projectConfigurationSchema,
  projectSchema,
  projectSettingsSchema,
} from '../../../server/control/schemas.ts';

/** The tables of spec part 2 and 8, as JSON Schema. */
const string = { type: 'string' };
const boolean = { type: 'boolean' };
const uri = { type: 'string', format: 'uri' };
const nullableUri = { type: ['string', 'null'], format: 'uri' };
const strings = { type: 'array', items: string };
/** The forms of ids and hosts, which the design decides. */
const projectId = { ...string, pattern: '^prj_[0-9a-z]{16}$' };
const organisationId = { ...string, pattern: '^org_[0-9a-z]{16}$' };
const hosts = { type: 'array', items: { ...string, pattern: canonicalHostPatternSource } };
const hostText = { ...string, pattern: hostTextSource };
const colour = { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' };
const integer = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum });
const positions = {
  type: 'string',
  enum: 'center north northeast northwest south southeast southwest east west'.split(' '),
};
const fits = { type: 'string', enum: 'contain cover fill inside outside'.split(' ') };

const settings = {
  autoFormat: boolean,
  defaultQuality: integer(30, 100),
  defaultDpr: integer(1, 3),
  defaultFit: fits,
  maxWidth: integer(0, 10_000),
  stripMetadata: boolean,
  watermarkEnabled: boolean,
  watermarkUrl: { type: 'string', allOf: [{ anyOf: [{ maxLength: 0 }, { format: 'uri' }] }] },
  watermarkPosition: positions,
  watermarkOpacity: integer(1, 100),
  watermarkScale: integer(1, 100),
  watermarkMargin: integer(0, 500),
};
const project = {
  id: projectId,
  orgId: organisationId,
  name: string,
  origin: uri,
  allowedOrigins: hosts,
  color1: colour,
  color2: colour,
  ...settings,
  maxWidth: { ...settings.maxWidth, type: ['integer', 'null'] },
  requireSignedUrls: boolean,
  signedUrlTtlSeconds: { ...integer(60, 2_592_000), type: ['integer', 'null'] },
  watermarkUrl: nullableUri,
  createdAt: string,
};
const defaults = {
  autoFormat: boolean,
  defaultQuality: { type: 'integer' },
  stripMetadata: boolean,
  watermarkEnabled: boolean,
};
const watermark = {
  enabled: boolean,
  margin: integer(0, 500),
  opacity: integer(1, 100),
  position: positions,
  scale: integer(1, 100),
  url: nullableUri,
};
const closed = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const configuration = {
  projectId,
  projectName: string,
  origin: uri,
  allowedOrigins: hosts,
  imageBaseUrl: uri,
  transformUrlTemplate: string,
  defaults: closed(defaults),
  watermark: closed(watermark),
  supportedParameters: strings,
};
const prewarm = {
  src: uri,
  sources: { type: 'array', items: uri, minItems: 1, maxItems: 20 },
  widths: { type: 'array', items: integer(1, 5_000), minItems: 1, maxItems: 10 },
  formats: {
    type: 'array',
    items: { type: 'string', enum: 'auto avif webp jpeg png'.split(' ') },
    minItems: 1,
    maxItems: 5,
  },
  quality: integer(30, 100),
  fit: { type: 'string', enum: 'contain cover fill inside'.split(' ') },
  dpr: integer(1, 3),
};

/** A schema without what only people read; the order of names does not count. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name, inner]) => !(name === 'description' && typeof inner === 'string'))
    .filter(([name]) => name !== 'x-rule')
    .map(([name, inner]) => [name, name === 'required' ? [...inner].sort() : bare(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const tables: ReadonlyArray<readonly [name: string, schema: object, specified: object]> = [
  ['Project', projectSchema, closed(project)],
  [
    'CreateProjectInput',
    createProjectSchema,
    closed(
      {
        name: { ...string, minLength: 1, maxLength: 80 },
        origin: uri,
        allowedOrigins: { type: 'array', items: hostText },
      },
      ['name', 'origin'],
    ),
  ],
  ['ProjectConfiguration', projectConfigurationSchema, closed(configuration)],
  [
    'ProjectSettingsInput',
    projectSettingsSchema,
    { type: 'object', properties: settings, minProperties: 1, additionalProperties: false },
  ],
  [
    'PrewarmInput',
    prewarmSchema,
    {
      type: 'object',
      properties: prewarm,
      additionalProperties: false,
      allOf: [{ anyOf: [{ required: ['src'] }, { required: ['sources'] }] }],
    },
  ],
  ['DomainInput', domainSchema, closed({ host: hostText })],
  [
    'the receipt of a prewarming',
    prewarmReceiptSchema,
    closed({
      // Only true, which some generators misread.
      accepted: { type: 'boolean' },
      sourceCount: { type: 'integer', minimum: 1 },
      variantCount: { type: 'integer', minimum: 1 },
    }),
  ],
];

for (const [name, schema, specified] of tables) {
  t.test(`${name} is as the specification has it`, async (t) => {
    t.strictSame(bare(schema), bare(specified));
  });
}
