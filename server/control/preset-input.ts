import type { PresetParameters } from '../../store/preset.ts';
import { type ParameterName, parameterNames, parameters } from '../image/parameters.ts';

/** The parameters that a preset may have: all but the one that names it. */
export const presetParameterNames = parameterNames.filter((name) => name !== 'preset');

/** Longest preset, as JSON: image requests of the project keep all its presets in memory. */
const maxCharacters = 1_024;

/** The schema of a preset's parameters, each with its type in JSON. */
export function presetParametersSchema(schemaOf: (name: ParameterName) => object) {
  return {
    type: 'object',
    description: `Image parameters by their canonical names; at most ${maxCharacters} characters as JSON.`,
    properties: Object.fromEntries(presetParameterNames.map((name) => [name, schemaOf(name)])),
    minProperties: 1,
    additionalProperties: false,
  } as const;
}

/** With the rule in words, for error messages. */
export const ruledSchema = (name: ParameterName): object => ({
  ...parameters[name].schema,
  'x-rule': `must be ${parameters[name].accepts}`,
});

/** The faults of parameters that are valid by their schema, in words. */
export function presetFaults(preset: PresetParameters): string[] {
  if (JSON.stringify(preset).length > maxCharacters) {
    return [`parameters must have at most ${maxCharacters} characters as JSON`];
  }
  return Object.entries(preset).flatMap(([name, value]) => {
    const { accepts, parse } = parameters[name as ParameterName];
    return parse(String(value)) === undefined ? [`parameters.${name} must be ${accepts}`] : [];
  });
}
