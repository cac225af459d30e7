import type { PresetParameters } from '../../store/preset.ts';
import { type ParameterName, parameters } from '../image/parameters.ts';

/** The schemas of image parameters as JSON values, as the fields of an object. */
export const parameterFields = (
  names: readonly ParameterName[],
  schemaOf: (name: ParameterName) => object,
) => Object.fromEntries(names.map((name) => [name, schemaOf(name)]));

/** A parameter's schema with its rule in words, for error messages. */
export const ruledSchema = (name: ParameterName): object => ({
  ...parameters[name].schema,
  'x-rule': `must be ${parameters[name].accepts}`,
});

/**
 * The errors that the schema does not find, in words.
 * @param subject of the errors, such as `variants[0]`
 */
export function parameterErrors(values: PresetParameters, subject: string): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const { accepts, parse } = parameters[name as ParameterName];
    return parse(String(value)) === undefined ? [`${subject}.${name} must be ${accepts}`] : [];
  });
}
