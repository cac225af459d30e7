import type { PresetParameters } from '../../store/preset.ts';
import { type ParameterName, parameterNames } from '../image/parameters.ts';
import { parameterErrors, parameterFields } from './image-parameters.ts';

/** The parameters of presets: all except the one that names a preset. */
const presetParameterNames = parameterNames.filter((name) => name !== 'preset');

/** Maximum length as JSON: all presets of a project are in memory with it. */
const maxCharacters = 1_024;

/** The schema of a preset's parameters as JSON values. */
export function presetParametersSchema(schemaOf: (name: ParameterName) => object) {
  return {
    type: 'object',
    description: `Image parameters by their canonical names; at most ${maxCharacters} characters as JSON.`,
    properties: parameterFields(presetParameterNames, schemaOf),
    minProperties: 1,
    additionalProperties: false,
  } as const;
}

/** The errors that the schema does not find, in words. */
export function presetErrors(preset: PresetParameters): string[] {
  if (JSON.stringify(preset).length > maxCharacters) {
    return [`parameters must have at most ${maxCharacters} characters as JSON`];
  }
  return parameterErrors(preset, 'parameters');
}
