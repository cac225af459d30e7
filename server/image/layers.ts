import { ServiceError } from '../../contract/errors.ts';
import type { Gravity } from '../../contract/image-terms.ts';
import { nearestName } from '../../contract/suggestion.ts';
import {
  type ImageLayer,
  type Layer,
  type Length,
  layerUrl,
  type Variant,
} from '../../pool/variant.ts';
import type { LayerFields, StoredLayer } from '../../store/project.ts';
import type { Project, ProjectSettings } from '../../store/projects.ts';
import { checkSource } from './access.ts';
import { fieldsOfKind, type LayerKind } from './layer-fields.ts';
import type { Overlay } from './overlays.ts';
import { readSourceReference, resolveSource } from './source-url.ts';
import { toText } from './values.ts';

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

/**
 * A preset or a layer of a project.
 * @throws ServiceError preset_not_found, layer_not_found
 */
export function findNamed<T>(
  kind: 'preset' | 'layer',
  parts: Readonly<Record<string, T>>,
  name: string,
): T {
  const found = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (found !== undefined) return found;
  const near = nearestName(name, Object.keys(parts));
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const shown = name.slice(0, 40).toWellFormed();
  throw new ServiceError(`${kind}_not_found`, `The project has no ${kind} ${shown}.${hint}`);
}

/** Returns a project's layer. @throws ServiceError layer_not_found */
export const findLayer = ({ layers = {} }: Pick<Project, 'layers'>, name: string): StoredLayer =>
  findNamed('layer', layers, name);

/**
 * Returns a layer's field values, with defaults.
 * @throws ServiceError parameter_invalid if an older release stored the layer
 */
function readValues(name: string, kind: LayerKind, given: LayerFields): Record<string, unknown> {
  const entries = Object.entries(fieldsOfKind(kind)).map(([field, { parse, accepts, ...type }]) => {
    const text = given[field] ?? type.default;
    const value = text == null ? text : parse(toText(text));
    if (value !== undefined) return [field, value];
    throw invalid(`The layer ${name} must be changed: ${field} must be ${accepts}.`);
  });
  return Object.fromEntries(entries);
}

/**
 * Returns an image's layers: the project's watermark, and the requested layers with the URL's
 * texts; null if there are no layers.
 *
 * @param isTrusted whether the URL is signed, so that the project vouches for its texts
 * @param overlays the images of the URL
 * @throws ServiceError layer_not_found, layer_text_not_signed, source_not_allowed,
 *   signature_invalid, parameter_invalid
 */
export function resolveLayers(
  names: readonly string[] | undefined,
  texts: ReadonlyMap<string, string>,
  project: Project,
  isTrusted: boolean,
  overlays: readonly Overlay[] = [],
): readonly Layer[] | null {
  for (const name of texts.keys()) {
    if (!names?.includes(name)) throw invalid(`text.${name} needs the layer ${name} in layer.`);
  }
  const named = (names ?? []).flatMap((name) => namedLayer(name, texts, project, isTrusted) ?? []);
  const drawn = overlays.map((overlay) => resolveOverlay(overlay, project, isTrusted));
  const layers = [watermarkLayer(project) ?? [], named, drawn].flat();
  return layers.length === 0 ? null : layers;
}

/** Returns the layer of an image in a URL. @throws ServiceError source_not_allowed, signature_invalid */
export function resolveOverlay(
  { name, source, fields }: Overlay,
  project: Project,
  isTrusted: boolean,
): Layer {
  const url = resolveSource(readSourceReference(source), project.origin);
  checkSource(project, url);
  if (!isTrusted && url.hostname !== new URL(project.origin).hostname) {
    throw new ServiceError(
      'signature_invalid',
      `${name} needs a signed URL, because its host is not that of the project's origin.`,
    );
  }
  return parseLayer(name, { image: { ...fields, url: url.href } }).layer;
}

/** Returns null for an empty text. */
function namedLayer(
  name: string,
  texts: ReadonlyMap<string, string>,
  project: Project,
  isTrusted: boolean,
): Layer | null {
  const { layer, file, freeText } = parseLayer(name, findLayer(project, name));
  if (file !== null) checkSource(project, file);
  const given = texts.get(name);
  if (layer.kind === 'image') {
    if (given === undefined) return layer;
    throw invalid(`The layer ${name} is an image: text.${name} has no effect.`);
  }
  if (given !== undefined && given !== layer.words && !isTrusted && !freeText) {
    throw new ServiceError(
      'layer_text_not_signed',
      `text.${name} needs a signed URL, because the layer ${name} does not allow free text.`,
    );
  }
  const shown = given ?? layer.words;
  return shown.trim() === '' ? null : { ...layer, words: shown };
}

interface ParsedLayer {
  readonly layer: Layer;
  /** The URL of its image or font, or null. */
  readonly file: URL | null;
  /** Whether unsigned URLs can replace its text. */
  readonly freeText: boolean;
}

function parseLayer(name: string, { image, text = {} }: StoredLayer): ParsedLayer {
  const { freeText, ...values } =
    image === undefined ? readValues(name, 'text', text) : readValues(name, 'image', image);
  const kind = image === undefined ? 'text' : 'image';
  const layer = { kind, ...values, ...(kind === 'image' && { isWatermark: false }) } as Layer;
  const url = layerUrl(layer);
  return { layer, file: url === null ? null : new URL(url), freeText: freeText === true };
}

type WatermarkSettings = Pick<
  ProjectSettings,
  Extract<keyof ProjectSettings, `watermark${string}`>
>;

/**
 * Returns null if the project has no watermark. The margin does not affect an axis on which the
 * watermark is centred.
 */
export function watermarkLayer(project: WatermarkSettings): ImageLayer | null {
  const { watermarkEnabled, watermarkUrl, watermarkPosition: position, watermarkMargin } = project;
  if (!watermarkEnabled || watermarkUrl === null) return null;
  const margin = (middle: readonly Gravity[]): Length => ({
    amount: middle.includes(position) ? 0 : watermarkMargin,
    unit: 'px',
  });
  return {
    kind: 'image',
    url: watermarkUrl,
    position,
    offsetX: margin(['north', 'center', 'south']),
    offsetY: margin(['west', 'center', 'east']),
    tiled: false,
    opacity: project.watermarkOpacity,
    scale: project.watermarkScale,
    width: null,
    height: null,
    radius: null,
    rotate: 0,
    blend: 'over',
    isWatermark: true,
  };
}

/**
 * Returns the failed layer that an error names, and the variant without it, or null for another
 * error.
 */
export function withoutFailed(variant: Variant, { details }: ServiceError) {
  const { layer: index } = details;
  const layers = variant.layers ?? [];
  const layer = index === undefined ? undefined : layers[index];
  if (index === undefined || layer === undefined) return null;
  const others = layers.toSpliced(index, 1);
  return { layer, rest: { ...variant, layers: others.length === 0 ? null : others } };
}
