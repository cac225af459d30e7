import {
  type FontFamily,
  type InstalledFonts,
  packagedFamily,
  readInstalledFonts,
} from '../../../pool/rendering/text/fonts.ts';
import { missingCharacters } from '../../../pool/rendering/text/words.ts';
import type { PresetValue, StoredLayer } from '../../../store/project.ts';
import type { Project } from '../../../store/projects.ts';
import { isAllowedHost } from '../../image/access.ts';
import { fieldsOfKind, type LayerKind, layerKinds } from '../../image/layer-fields.ts';
import { findLayer } from '../../image/layers.ts';
import { privateHostError } from '../hosts-and-urls.ts';
import { layerFieldSchema, valueErrors } from '../image-schemas.ts';
import { listResult, operation } from '../operation.ts';
import { ProjectItems, partNameSchema, requirePartName } from '../project-items.ts';
import { exactlyOneOf, type NamedSchema, ref, strictObject } from '../schema.ts';
import type { Services } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';

/** Maximum length as JSON. */
const maxCharacters = 4_096;

/** Returns the schema of a kind's fields as JSON values. */
function fieldsSchema(kind: LayerKind, title: string) {
  const fields = Object.entries(fieldsOfKind(kind));
  return {
    type: 'object',
    description: `${title}; at most ${maxCharacters} characters as JSON.`,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, layerFieldSchema(field)])),
    required: fields.filter(([, field]) => field.default === undefined).map(([name]) => name),
    additionalProperties: false,
  };
}

interface Layer extends StoredLayer {
  readonly name: string;
  readonly warnings?: readonly string[];
}

const kinds = { image: ref('LayerImage'), text: ref('LayerText') };
const parts = {
  LayerImage: fieldsSchema('image', 'An image layer'),
  LayerText: fieldsSchema('text', 'A text layer'),
};

const layerInput: NamedSchema<StoredLayer> = {
  name: 'LayerInput',
  schema: {
    type: 'object',
    description: 'Either an image or a text.',
    properties: kinds,
    allOf: exactlyOneOf('image', 'text'),
    additionalProperties: false,
  },
  parts,
  example: {
    text: { words: 'Sale', position: 'northeast', color: 'fff', background: 'c00', padding: 8 },
  },
};

const layer: NamedSchema<Layer> = {
  name: 'Layer',
  schema: {
    type: 'object',
    description: 'A named image or text that is drawn on images.',
    properties: {
      name: partNameSchema,
      ...kinds,
      warnings: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Problems in images with the layer, such as characters that no font contains. Only in the response of `putProjectLayer`, if there are any.',
      },
    },
    required: ['name'],
    additionalProperties: false,
  },
  parts,
  example: { name: 'badge', ...layerInput.example },
};

const layers = new ProjectItems<StoredLayer, Layer, 'guard' | 'fonts'>({
  singular: 'layer',
  plural: 'layers',
  field: 'layers',
  parameter: { name: 'layerName', schema: partNameSchema },
  input: layerInput,
  body: layer,
  limit: 50,
  readName: (text) => requirePartName('layer', text),
  checkInput: async (input, _name, _projectId, { fonts }) => {
    rejectInvalid(
      layerKinds.flatMap((kind) =>
        valueErrors(input[kind] ?? {}, kind, fieldsOfKind(kind), maxCharacters),
      ),
    );
    await checkFont(input.text?.['font'], fonts);
  },
  checkForProject: (project, { image, text }, services) => {
    checkSource(services, project, 'image.url', image?.['url']);
    checkSource(services, project, 'text.fontUrl', text?.['fontUrl']);
  },
  set: ({ projects }, projectId, name, input, check) =>
    projects.setItem(projectId, 'layers', name, input, check),
  names: (project) => Object.keys(project.layers ?? {}),
  getName: ({ name }) => name,
  find: (project, name) => ({ name, ...findLayer(project, name) }),
  review: async (stored, { fonts }) => {
    const warnings = await findFaults(stored, fonts);
    return warnings.length === 0 ? stored : { ...stored, warnings };
  },
});

const font: NamedSchema<FontFamily> = {
  name: 'Font',
  schema: {
    description: 'A font family that text layers can use.',
    ...strictObject({
      name: { type: 'string', description: "A text layer's `font`." },
      weights: { type: 'array', items: { type: 'integer' }, description: 'Ascending.' },
    }),
  },
  example: packagedFamily,
};

export const layerOperations = {
  ...layers.operations({
    list: "Lists the project's layers by name.",
    get: "Returns the layer that `layer` draws in the project's image URLs.",
    put: 'Accepts an image on an allowed host, or a text. Omitted fields have their defaults. Image URLs with the layer change at once. `warnings` names characters that no font contains.',
    remove:
      'Returns the remaining layers. Deleting a missing layer is not an error. Image URLs with the layer then fail.',
  }),
  listFonts: operation({
    method: 'GET',
    path: '/fonts',
    summary: 'List the fonts',
    description: "Lists the service's font families, the default first.",
    result: listResult('fonts', font),
    handle: async (_, { fonts }) => (await findFonts(fonts)).families,
  }),
};

/**
 * By the operator's folder: fonts do not change after the start, and WOFF2 takes time to unpack.
 */
const knownFonts = new Map<string | null, InstalledFonts>();

async function findFonts(folder: string | null): Promise<InstalledFonts> {
  const fonts = knownFonts.get(folder) ?? (await readInstalledFonts(folder));
  knownFonts.set(folder, fonts);
  return fonts;
}

/** @throws ServiceError invalid_request if the family is missing */
async function checkFont(family: PresetValue | undefined, folder: string | null): Promise<void> {
  if (family === undefined || family === packagedFamily.name) return;
  const names = (await findFonts(folder)).families.map(({ name }) => name);
  if (names.includes(String(family))) return;
  throw invalidRequest(`text.font must be one of the fonts of the service: ${names.join(', ')}`);
}

/** Maximum characters in a warning. */
const maxNamed = 10;

/** Returns, in words, the faults of a layer's text. */
async function findFaults({ text }: StoredLayer, folder: string | null): Promise<string[]> {
  const words = String(text?.['words'] ?? '');
  // Every font contains ASCII; a font at a URL is not read here.
  if (/^[ -~]*$/.test(words) || text?.['fontUrl'] !== undefined) return [];
  const missing = missingCharacters(words, (await findFonts(folder)).characters);
  if (missing.length === 0) return [];
  const more = missing.length > maxNamed ? ' …' : '';
  return [
    `text.words has characters that no font contains, so images show boxes: ${missing.slice(0, maxNamed).join(' ')}${more}. Change the words, set text.fontUrl, or ask the operator for a font.`,
  ];
}

function checkSource(
  { guard }: Pick<Services, 'guard'>,
  project: Project,
  field: string,
  value: PresetValue | undefined,
): void {
  if (value === undefined) return;
  const url = new URL(String(value));
  if (!isAllowedHost(project, url.hostname))
    throw invalidRequest(`${field} must be on an allowed host`);
  const hostError = privateHostError(url, guard);
  if (hostError !== null) throw invalidRequest(`${field} ${hostError}`);
}
