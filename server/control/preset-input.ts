import { Ajv2020 } from 'ajv/dist/2020.js';
import type { PresetParameters, PresetValue } from '../../store/preset.ts';
import { isParameter, readOptions } from '../image/options.ts';
import { type ParameterName, parameterNames, parameters } from '../image/parameters.ts';
import type { ValueSchema } from '../image/values.ts';

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

const ajv = new Ajv2020({ strict: false });
const takes = (schema: ValueSchema, value: PresetValue): boolean => ajv.validate(schema, value);

/**
 * A query as a preset, with canonical names and values in JSON.
 * @throws ServiceError parameter_invalid
 */
export function presetOfQuery(query: string): Record<string, PresetValue> {
  const pairs = [...new URLSearchParams(query)];
  const entries = pairs.map(([spelling, text]) => {
    if (!isParameter(spelling)) return [spelling, text] as const;
    const [name = spelling] = Object.keys(readOptions(new Map([[spelling, text]])));
    return [name, jsonValue(name as ParameterName, text)] as const;
  });
  // Once more, for two names of one parameter.
  readOptions(new Map(pairs));
  return Object.fromEntries(entries);
}

/** The first of these that the schema takes and that means the same. */
function jsonValue(name: ParameterName, text: string): PresetValue {
  const { schema, parse } = parameters[name];
  const word = text.toLowerCase();
  const flag = ['', '1', 'true'].includes(word) || !['0', 'false'].includes(word);
  const meaning = JSON.stringify(parse(text));
  const candidates = [flag, Number(text), text, word];
  const same = (value: PresetValue) =>
    takes(schema, value) && JSON.stringify(parse(String(value))) === meaning;
  return candidates.find(same) ?? text;
}
