import { ServiceError } from '../../contract/errors.ts';
import {
  type ImageLayer,
  type Layer,
  layerUrl,
  type TextLayer,
  type Variant,
} from '../../pool/variant.ts';
import type { LayerFields, StoredLayer } from '../../store/layer.ts';
import type { Project } from '../../store/projects.ts';
import { checkSource } from './access.ts';
import { fieldsOfKind, type LayerKind } from './layer-fields.ts';
import { findNamed } from './named-part.ts';

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

/** A layer of a project. @throws ServiceError layer_not_found */
export const findLayer = ({ layers = {} }: Pick<Project, 'layers'>, name: string): StoredLayer =>
  findNamed('layer', layers, name);

/** The values of a layer's fields, with defaults. @throws ServiceError parameter_invalid for one of an older release */
function valuesOf(name: string, kind: LayerKind, given: LayerFields): Record<string, unknown> {
  const entries = Object.entries(fieldsOfKind(kind)).map(([field, { parse, accepts, ...type }]) => {
    const text = given[field];
    const value = text === undefined ? type.default : parse(String(text));
    if (value !== undefined) return [field, value];
    throw invalid(`The layer ${name} must be changed: ${field} must be ${accepts}.`);
  });
  return Object.fromEntries(entries);
}

/**
 * The layers of an image, as the project keeps them, with the words of the URL; null for none.
 *
 * @param isTrusted whether the URL is signed, so that its words are the project's
 * @throws ServiceError layer_not_found, layer_text_not_signed, source_not_allowed, parameter_invalid
 */
export function resolveLayers(
  names: readonly string[] | undefined,
  texts: ReadonlyMap<string, string>,
  project: Project,
  isTrusted: boolean,
): readonly Layer[] | null {
  for (const name of texts.keys()) {
    if (!names?.includes(name)) throw invalid(`text.${name} needs the layer ${name} in layer.`);
  }
  if (names === undefined) return null;
  const layers = names.flatMap((name): Layer[] => {
    const { image, text = {} } = findLayer(project, name);
    if (image !== undefined) {
      if (texts.has(name))
        throw invalid(`The layer ${name} is an image: text.${name} has no effect.`);
      const layer = { kind: 'image', ...valuesOf(name, 'image', image) } as ImageLayer;
      checkFile(project, layer);
      return [layer];
    }
    const { freeText, ...values } = valuesOf(name, 'text', text);
    const layer = { kind: 'text', ...values } as TextLayer;
    checkFile(project, layer);
    const given = texts.get(name);
    if (given !== undefined && given !== layer.words && !isTrusted && freeText !== true) {
      throw new ServiceError(
        'layer_text_not_signed',
        `text.${name} needs a signed URL, because the layer ${name} does not allow free texts.`,
      );
    }
    const shown = given ?? layer.words;
    return shown.trim() === '' ? [] : [{ ...layer, words: shown }];
  });
  return layers.length === 0 ? null : layers;
}

/** @throws ServiceError source_not_allowed, for the URL of a layer's image or font */
function checkFile(project: Project, layer: Layer): void {
  const url = layerUrl(layer);
  if (url !== null) checkSource(project, new URL(url));
}

/** The variant without the watermark or the layer that an error names; null for another error. */
export function withoutFailed(variant: Variant, { details }: ServiceError): Variant | null {
  if (details.watermark === true) return { ...variant, watermark: null };
  if (details.layer === undefined || variant.layers === null) return null;
  const layers = variant.layers.toSpliced(details.layer, 1);
  return { ...variant, layers: layers.length === 0 ? null : layers };
}
