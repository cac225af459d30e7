import { ServiceError } from '../../contract/errors.ts';
import type { NegotiableFormat } from '../../contract/image-terms.ts';
import { withMissingSide } from '../../pool/geometry.ts';
import type { Modulation } from '../../pool/rendering/operations.ts';
import {
  type Edges,
  type PlaceholderKind,
  placeholderKinds,
  plainVariant,
  type Variant,
} from '../../pool/variant.ts';
import type { PresetParameters } from '../../store/project.ts';
import type { Project, ProjectSettings } from '../../store/projects.ts';
import { checkSource } from './access.ts';
import { type Options, readLayerTexts, readOptions } from './address.ts';
import type { NamedFile } from './download.ts';
import { findNamed, resolveLayers } from './layers.ts';
import { limitOptions } from './limited-options.ts';
import {
  type Hints,
  type NegotiatedHeaders,
  neededVary,
  noHints,
  roundUpWidth,
} from './negotiate.ts';
import { checkOverlayParts, readOverlays } from './overlays.ts';
import { type ParameterName, parameters } from './parameters.ts';
import { type Share, toText } from './values.ts';

/** Returns JSON values as a query's. */
export const toTexts = (parameters: PresetParameters): ReadonlyMap<string, string> =>
  new Map(Object.entries(parameters).map(([name, value]) => [name, toText(value)]));

/** @throws ServiceError parameter_invalid */
export const presetOptions = (parameters: PresetParameters): Options =>
  readOptions(toTexts(parameters));

/** Returns a project's preset. @throws ServiceError preset_not_found */
export const findPreset = (
  { presets = {} }: Pick<Project, 'presets'>,
  name: string,
): PresetParameters => findNamed('preset', presets, name);

/**
 * Merges a URL's options with those of its preset; the URL takes precedence.
 * @throws ServiceError preset_not_found; parameter_invalid if an older release stored the preset
 */
export function withPreset(options: Options, project: Pick<Project, 'presets'>): Options {
  const { preset: name } = options;
  if (name === undefined) return options;
  const named = Object.keys(options) as ParameterName[];
  const preset = parsePreset(name, findPreset(project, name));
  const replaced = new Set<string>([
    ...named.flatMap((parameter) => parameters[parameter].replaces),
    ...sideReplacedByRatio(options, preset),
  ]);
  const kept = Object.entries(preset).filter(([parameter]) => !replaced.has(parameter));
  return { ...Object.fromEntries(kept), ...options };
}

/** Returns the preset's side that gives way to the other side and the URL's `ar`. */
function sideReplacedByRatio({ ar, w, h }: Options, preset: Options): readonly ParameterName[] {
  if (ar === undefined) return [];
  if (h !== undefined) return ['w'];
  return w === undefined && preset.w === undefined ? [] : ['h'];
}

function parsePreset(name: string, preset: PresetParameters): Options {
  try {
    return presetOptions(preset);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `The preset ${name} must be changed: ${error.message}`);
  }
}

export interface Transform {
  /** As sent, by any spelling. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly options: Options;
  /** By layer name. */
  readonly texts: ReadonlyMap<string, string>;
}

/** @throws ServiceError parameter_invalid naming the parameter */
export function readTransform(parameters: ReadonlyMap<string, string>): Transform {
  checkOverlayParts(parameters);
  return { parameters, options: readOptions(parameters), texts: readLayerTexts(parameters) };
}

/** A request's image, with its preset, layers and the project's defaults. */
export interface ResolvedTransform extends Pick<Transform, 'parameters'> {
  readonly variant: Variant;
  /** The source's version, or null. */
  readonly version: string | null;
  /** Another source, used if the source fails; or null. */
  readonly fallback: URL | null;
  /** The requested name, or null for the source's. */
  readonly file: NamedFile | null;
  /** The result of `neededVary`. */
  readonly vary: string;
}

/**
 * @param isTrusted whether the project vouches for layer texts
 * @throws ServiceError preset_not_found, layer_not_found, layer_text_not_signed, source_not_allowed,
 *   parameter_invalid
 */
export function resolveTransform(
  { parameters, options: given, texts }: Transform,
  project: Project,
  usesHints: boolean,
  { hints, accepted }: NegotiatedHeaders,
  isTrusted: boolean,
): ResolvedTransform {
  const used = usesHints ? hints : noHints;
  const merged = withPreset(given, project);
  const ratio = pixelRatio(merged.dpr, used, project);
  const options = limitOptions(
    { parameters, options: given, texts },
    merged,
    project,
    ratio,
    isTrusted,
  );
  const { v: version = null } = options;
  const fallback = options.fallback === undefined ? null : new URL(options.fallback);
  if (fallback !== null) checkSource(project, fallback);
  const overlays = readOverlays(parameters, options.overlay);
  const layers = resolveLayers(options.layer, texts, project, isTrusted, overlays);
  const variant = resolveVariant(options, used, accepted, project, layers);
  const vary = neededVary(options, project, usesHints);
  return { parameters, variant, version, fallback, file: requestedFile(options), vary };
}

function requestedFile({ download, filename }: Options): NamedFile | null {
  if (download !== undefined) return { disposition: 'attachment', name: download };
  return filename === undefined ? null : { disposition: 'inline', name: filename };
}

/**
 * Makes the compiler name any option that is not a variant field: its field gets the type `never`.
 */
type VariantFields<T> = { [N in keyof T]: N extends keyof Variant ? Variant[N] : never };

/**
 * Returns a request's variant: the query takes precedence over client hints, then project settings.
 */
export function resolveVariant(
  options: Options,
  hints: Hints,
  accepted: Variant['formats'],
  project: ProjectSettings,
  layers: Variant['layers'] = null,
): Variant {
  // biome-ignore format: one rest, because each copies the fields
  const {
    preset, layer, overlay, fallback, download, filename, v, w, h, minw, minh, ar, dpr, extend,
    fit = project.defaultFit, pos, fp, bg, modulate, brightness, saturation, hue, lightness, q, fmt,
    maxbytes, keep, icc, hdr, ...others
  } = options;
  const fields: VariantFields<typeof others> = others;
  const ratio = pixelRatio(dpr, hints, project);
  const stripMetadata = project.stripMetadata || keep === 'copyright';
  return {
    ...plainVariant,
    ...fields,
    ...box(options, ratio, hints, project),
    fit,
    position: position(options, fit),
    ...behind(bg, fit, border(extend, ratio)),
    modulate: modulation(options),
    layers,
    ...output(fmt, accepted, project.autoFormat),
    quality: q ?? project.defaultQuality,
    maxBytes: maxbytes ?? null,
    stripMetadata,
    copyright: keep === 'copyright',
    keepProfile: icc === 'keep' && stripMetadata,
    gainMap: hdr === 'keep',
  };
}

/**
 * Returns the variant to send until the `auto` image is rendered: the result for clients that
 * accept `first` and the formats after it. Null if the client does not accept `first`, or prefers
 * it.
 */
export function provisionalVariant(
  variant: Variant,
  first: NegotiableFormat | null,
): Variant | null {
  const { negotiated, placeholder, formats } = variant;
  const from = first === null ? -1 : formats.indexOf(first);
  if (!negotiated || placeholder !== null || from <= 0) return null;
  return { ...variant, formats: formats.slice(from) };
}

/**
 * Returns the query's device pixels per CSS pixel. The hint applies only to `dpr=auto`: `srcset`
 * URLs state the pixels they need, and browsers that received Accept-CH add the hint to every
 * request.
 */
function pixelRatio(dpr: Options['dpr'], hints: Hints, { defaultDpr }: ProjectSettings): number {
  return dpr === 'auto' ? (hints.dpr ?? defaultDpr) : (dpr ?? defaultDpr);
}

/**
 * Returns the size in device pixels, and their ratio to CSS pixels. A hinted width next to a height
 * in the query would crop the image. Hinted sizes are in the client's device pixels, even without
 * `dpr=auto`.
 */
function box(options: Options, ratio: number, hints: Hints, project: ProjectSettings) {
  const { w, h, ar, dpr, minw, minh } = options;
  const devicePixels = (css: number) => Math.max(1, Math.round(css * ratio));
  const smallest = {
    minWidth: minw === undefined ? null : devicePixels(minw),
    minHeight: minh === undefined ? null : devicePixels(minh),
  };
  const { maxWidth, defaultDpr } = project;
  const hintedRatio = dpr === undefined ? (hints.dpr ?? defaultDpr) : ratio;
  const aspectRatio = ar ?? null;
  if (w !== undefined || h !== undefined) {
    const inPixels = (side: number | Share | undefined) =>
      typeof side === 'number' ? devicePixels(side) : null;
    const ofSource = (side: number | Share | undefined) =>
      typeof side === 'object' ? side.share * ratio : null;
    const shares = { widthShare: ofSource(w), heightShare: ofSource(h) };
    const sides = { width: inPixels(w), height: inPixels(h) };
    const hasShare = shares.widthShare !== null || shares.heightShare !== null;
    const box = hasShare
      ? { ...sides, aspectRatio }
      : withMissingSide(sides.width, sides.height, aspectRatio);
    return { ...box, ...shares, ...smallest, maxWidth, pixelRatio: ratio };
  }
  if (hints.width !== null) {
    const box = withMissingSide(hints.width, null, aspectRatio);
    return { ...box, ...smallest, maxWidth, pixelRatio: hintedRatio };
  }
  if (hints.viewport === null) return { ...smallest, aspectRatio, maxWidth };
  const viewportWidth = roundUpWidth(hints.viewport * hintedRatio);
  const widest = Math.min(viewportWidth, maxWidth ?? viewportWidth);
  const widestInCss = Math.min(viewportWidth / hintedRatio, maxWidth ?? viewportWidth);
  return { ...smallest, aspectRatio, maxWidth: widest, pixelRatio: widest / widestInCss };
}

/** Turns a focal point in the centre into `center`, so that both share a cache entry. */
function position({ fp, pos, minw, minh }: Options, fit: Variant['fit']): Variant['position'] {
  const cuts = fit === 'cover' || minw !== undefined || minh !== undefined;
  if (fp === undefined || !cuts) return pos ?? plainVariant.position;
  return fp.x === 0.5 && fp.y === 0.5 ? 'center' : fp;
}

function border(edges: Edges | undefined, ratio: number): Edges | null {
  if (edges === undefined) return null;
  const { top, right, bottom, left } = edges;
  if (top + right + bottom + left === 0) return null;
  const scaled = (length: number) => Math.round(length * ratio);
  return { top: scaled(top), right: scaled(right), bottom: scaled(bottom), left: scaled(left) };
}

/** A backdrop needs padding, which it fills. */
function behind(bg: Options['bg'], fit: Variant['fit'], extend: Edges | null) {
  if (typeof bg !== 'object') return { extend, background: bg ?? null };
  return { extend, backdrop: fit === 'contain' || extend !== null ? bg : null };
}

function modulation(options: Options): Modulation | null {
  const { modulate } = options;
  const {
    brightness = modulate?.brightness ?? 1,
    saturation = modulate?.saturation ?? 1,
    hue = modulate?.hue ?? 0,
    lightness = modulate?.lightness ?? 0,
  } = options;
  const isNeutral = brightness === 1 && saturation === 1 && hue === 0 && lightness === 0;
  return isNeutral ? null : { brightness, saturation, hue, lightness };
}

const isPlaceholder = (format: string): format is PlaceholderKind =>
  placeholderKinds.some((placeholder) => placeholder === format);

/**
 * Returns the accepted output formats. `json` describes the image that the request would return
 * without `fmt`.
 */
function output(
  fmt: Options['fmt'],
  accepted: Variant['formats'],
  autoFormat: boolean,
): Pick<Variant, 'formats' | 'negotiated' | 'placeholder'> {
  const placeholder = fmt !== undefined && isPlaceholder(fmt) ? fmt : null;
  if (placeholder !== null && placeholder !== 'json') {
    return { placeholder, formats: ['png'], negotiated: false };
  }
  const format = fmt === undefined || isPlaceholder(fmt) ? (autoFormat ? 'auto' : null) : fmt;
  if (format === 'auto') return { placeholder, formats: accepted, negotiated: true };
  return { placeholder, formats: format === null ? [] : [format], negotiated: false };
}

/** The facts of a source about the smallest image of it, which `fmt=json` with `w=1` has too. */
export const factsVariant: Variant = {
  ...plainVariant,
  width: 1,
  animated: false,
  placeholder: 'json',
};
