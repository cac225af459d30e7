import type { PresetParameters } from '../../../store/project.ts';
import type { Project } from '../../../store/projects.ts';
import { isAllowedHost } from '../../image/access.ts';
import { parameterNames, parameters } from '../../image/parameters.ts';
import { findPreset, presetOptions } from '../../image/resolve-variant.ts';
import { parameterAliases, parameterFields, valueErrors } from '../image-schemas.ts';
import { ProjectItems, partNameSchema, requirePartName } from '../project-items.ts';
import { type NamedSchema, ref } from '../schema.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';

/** Preset parameters: all except the parameter that names a preset. */
const presetParameterNames = parameterNames.filter((name) => name !== 'preset');

/** Maximum length as JSON. */
const maxCharacters = 1_024;

const parts = {
  PresetParameters: {
    type: 'object',
    description: `Image parameters by canonical name; at most ${maxCharacters} characters as JSON.`,
    properties: parameterFields(presetParameterNames),
    minProperties: 1,
    additionalProperties: false,
    'x-aliases': parameterAliases,
  },
};

interface PresetInput {
  readonly parameters: PresetParameters;
}
interface Preset extends PresetInput {
  readonly name: string;
}

const parametersReference = ref('PresetParameters');

const presetInput: NamedSchema<PresetInput> = {
  name: 'PresetInput',
  schema: {
    type: 'object',
    properties: { parameters: parametersReference },
    required: ['parameters'],
    additionalProperties: false,
  },
  parts,
  example: { parameters: { w: 400, h: 300, fit: 'cover', sharpen: true } },
};

const preset: NamedSchema<Preset> = {
  name: 'Preset',
  schema: {
    type: 'object',
    description: 'A named set of image parameters.',
    properties: { name: partNameSchema, parameters: parametersReference },
    required: ['name', 'parameters'],
    additionalProperties: false,
  },
  parts,
  example: { name: 'card', ...presetInput.example },
};

export const presets = new ProjectItems<PresetInput, Preset>({
  singular: 'preset',
  plural: 'presets',
  field: 'presets',
  parameter: { name: 'presetName', schema: partNameSchema },
  input: presetInput,
  body: preset,
  limit: 100,
  readName: (text) => requirePartName('preset', text),
  checkInput: (input) =>
    rejectInvalid(valueErrors(input.parameters, 'parameters', parameters, maxCharacters)),
  checkForProject: checkFallback,
  set: ({ projects }, projectId, name, { parameters }, check) =>
    projects.setItem(projectId, 'presets', name, parameters, check),
  names: (project) => Object.keys(project.presets ?? {}),
  getName: ({ name }) => name,
  find: (project, name) => ({ name, parameters: { ...findPreset(project, name) } }),
});

export const presetOperations = presets.operations({
  list: "Lists the project's presets by name.",
  get: "Returns the parameters that `preset` applies in the project's image URLs.",
  put: 'Accepts image URL parameters with the same rules. Image URLs with the preset change at once.',
  remove:
    'Returns the remaining presets. Deleting a missing preset is not an error. Image URLs with the preset then fail.',
});

function checkFallback(project: Project, { parameters }: PresetInput): void {
  const { fallback } = presetOptions(parameters);
  if (fallback === undefined || isAllowedHost(project, new URL(fallback).hostname)) return;
  throw invalidRequest('parameters.fallback must be on an allowed host');
}
