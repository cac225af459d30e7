import { ServiceError } from '../../contract/errors.ts';
import { isLayerName, layerNamePattern } from '../../store/layer.ts';
import { words } from './layer-fields.ts';
import type { ParameterType } from './values.ts';

/** The most layers of an image. */
const maxLayers = 10;

const name = layerNamePattern.slice(1, -1);

/** The value of `layer`. */
export const layerNames: ParameterType<readonly string[]> = {
  accepts: `1 to ${maxLayers} different names of layers, separated by commas`,
  schema: { type: 'string', pattern: `^${name}(?:,${name}){0,${maxLayers - 1}}$` },
  parse(text) {
    const names = text.split(',', maxLayers + 1);
    const isValid = names.length <= maxLayers && names.every(isLayerName);
    return isValid && new Set(names).size === names.length ? names : undefined;
  },
};

const textPrefix = 'text.';

/** Whether a name of a query is that of a layer's words, such as `text.price`. */
export const isLayerText = (name: string): boolean => name.startsWith(textPrefix);

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

/**
 * The words of layers in a query, by the name of the layer.
 * @throws ServiceError parameter_invalid
 */
export function readLayerTexts(query: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [parameter, text] of query) {
    if (!isLayerText(parameter)) continue;
    const layer = parameter.slice(textPrefix.length);
    if (!isLayerName(layer)) throw invalid('text. must be followed by the name of a layer.');
    const value = words.parse(text.replaceAll('\r\n', '\n'));
    if (value === undefined) throw invalid(`${parameter} must be ${words.accepts}.`);
    texts.set(layer, value);
  }
  return texts;
}
