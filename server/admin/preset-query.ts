import { Ajv2020 } from 'ajv/dist/2020.js';
import type { PresetValue } from '../../store/preset.ts';
import { isParameter, readOptions } from '../image/address.ts';
import { type ParameterName, parameters } from '../image/parameters.ts';
import type { ValueSchema } from '../image/values.ts';

const ajv = new Ajv2020({ strict: false });
const accepts = (schema: ValueSchema, value: PresetValue): boolean => ajv.validate(schema, value);

/**
 * Returns a query as a preset, with canonical names and JSON values.
 * @throws ServiceError parameter_invalid
 */
export function presetOfQuery(query: string): Record<string, PresetValue> {
  const pairs = [...new URLSearchParams(query)];
  const entries = pairs.map(([spelling, text]) => {
    if (!isParameter(spelling)) return [spelling, text] as const;
    const [name = spelling] = Object.keys(readOptions(new Map([[spelling, text]])));
    return [name, jsonValue(name as ParameterName, text)] as const;
  });
  // Parse all pairs together to reject two aliases of one parameter.
  readOptions(new Map(pairs));
  return Object.fromEntries(entries);
}

/** Returns the equivalent JSON value that the schema accepts, or else the text. */
function jsonValue(name: ParameterName, text: string): PresetValue {
  const { schema, parse } = parameters[name];
  const word = text.toLowerCase();
  const flag = !['0', 'false'].includes(word);
  const meaning = JSON.stringify(parse(text));
  const candidates = [flag, Number(text), text, word];
  const same = (value: PresetValue) =>
    accepts(schema, value) && JSON.stringify(parse(String(value))) === meaning;
  return candidates.find(same) ?? text;
}
