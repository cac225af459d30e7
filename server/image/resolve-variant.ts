import {
  type Edges,
  type Fit,
  type Modulation,
  type PlaceholderKind,
  placeholderKinds,
  plainVariant,
  type Variant,
  type Watermark,
} from '../../pool/variant.ts';
import type { ProjectSettings } from '../../store/projects.ts';
import { type Accepted, type Hints, snapWidth } from './negotiate.ts';
import type { Options } from './options.ts';

/** Device pixels of a CSS length; the smallest picture has one. */
const devicePixels = (css: number, dpr: number): number => Math.max(1, Math.round(css * dpr));

function minimum(...bounds: ReadonlyArray<number | null>): number | null {
  const given = bounds.filter((bound) => bound !== null);
  return given.length === 0 ? null : Math.min(...given);
}

/**
 * Device pixels for each CSS pixel of lengths in the query, and of a hinted viewport.
 *
 * Lengths in the query are multiplied by a hint only when the query says so: a `srcset` names the
 * pixels that it wants, and browsers that have seen Accept-CH send the hint with each of its images.
 */
function pixelRatios(asked: Options['dpr'], hints: Hints, { defaultDpr }: ProjectSettings) {
  const hinted = hints.dpr ?? defaultDpr;
  if (asked === undefined) return { dpr: defaultDpr, viewportDpr: hinted };
  const dpr = asked === 'auto' ? hinted : asked;
  return { dpr, viewportDpr: dpr };
}

/**
 * The effective values of a request: the query over client hints over the project's defaults.
 */
export function resolveVariant(
  options: Options,
  hints: Hints,
  accepted: Accepted,
  project: ProjectSettings,
): Variant {
  const { dpr, viewportDpr } = pixelRatios(options.dpr, hints, project);
  const sized = options.w !== undefined || options.h !== undefined;
  // With a height in the query, a hinted width would crop or stretch the image.
  const hintedWidth = sized ? null : hints.width;
  const viewport =
    sized || hintedWidth !== null || hints.viewport === null
      ? null
      : snapWidth(hints.viewport * viewportDpr);
  const fit = options.fit ?? project.defaultFit;
  return {
    ...plainVariant,
    crop: options.crop ?? null,
    trim: options.trim ?? null,
    rotate: ((options.rotate ?? 0) + 360) % 360,
    flip: options.flip ?? false,
    flop: options.flop ?? false,
    width: options.w === undefined ? hintedWidth : devicePixels(options.w, dpr),
    height: options.h === undefined ? null : devicePixels(options.h, dpr),
    fit,
    position: positionOf(options, fit),
    enlarge: options.enlarge ?? false,
    kernel: options.kernel ?? plainVariant.kernel,
    maxWidth: minimum(project.maxWidth, viewport),
    extend: border(options.extend, dpr),
    background: options.bg ?? null,
    flatten: options.flatten ?? false,
    grayscale: options.grayscale ?? false,
    negate: options.negate ?? false,
    normalize: options.normalize ?? false,
    gamma: nullIf(1, options.gamma),
    modulate: modulation(options),
    tint: options.tint ?? null,
    threshold: options.threshold ?? null,
    median: nullIf(1, options.median),
    blur: options.blur ?? null,
    sharpen: options.sharpen ?? null,
    opacity: nullIf(1, options.opacity),
    watermark: watermarkOf(project),
    ...output(options.fmt, accepted, project.autoFormat),
    page: options.page ?? null,
    lenient: options.lenient ?? false,
    animated: options.animated ?? true,
    quality: options.q ?? project.defaultQuality,
    maxBytes: options.maxbytes ?? null,
    lossless: options.lossless ?? null,
    ...metadataOf(options, project),
  };
}

/** What of the source's metadata is kept: `keep=copyright` nothing else, whatever the project says. */
function metadataOf({ keep, icc, hdr }: Options, project: ProjectSettings) {
  const copyright = keep === 'copyright';
  const stripMetadata = project.stripMetadata || copyright;
  return {
    stripMetadata,
    copyright,
    keepProfile: icc === 'keep' && stripMetadata,
    gainMap: hdr === 'keep',
  };
}

/** The centre as a point is what `center` is, so that both share one cache entry. */
function positionOf({ fp, pos }: Options, fit: Fit): Variant['position'] {
  if (fp === undefined || fit !== 'cover') return pos ?? plainVariant.position;
  return fp.x === 0.5 && fp.y === 0.5 ? 'center' : fp;
}

/** A value, or null for the neutral value, which changes nothing. */
const nullIf = (neutral: number, value: number | undefined): number | null =>
  value === undefined || value === neutral ? null : value;

function border(edges: Edges | undefined, dpr: number): Edges | null {
  if (edges === undefined) return null;
  const { top, right, bottom, left } = edges;
  if (top + right + bottom + left === 0) return null;
  const scaled = (length: number) => Math.round(length * dpr);
  return { top: scaled(top), right: scaled(right), bottom: scaled(bottom), left: scaled(left) };
}

function modulation(options: Options): Modulation | null {
  const effective = {
    brightness: options.brightness ?? options.modulate?.brightness ?? 1,
    saturation: options.saturation ?? options.modulate?.saturation ?? 1,
    hue: ((options.hue ?? options.modulate?.hue ?? 0) + 360) % 360,
    lightness: options.lightness ?? options.modulate?.lightness ?? 0,
  };
  const { brightness, saturation, hue, lightness } = effective;
  return brightness === 1 && saturation === 1 && hue === 0 && lightness === 0 ? null : effective;
}

function watermarkOf(project: ProjectSettings): Watermark | null {
  if (!project.watermarkEnabled || project.watermarkUrl === null) return null;
  return {
    url: project.watermarkUrl,
    position: project.watermarkPosition,
    opacity: project.watermarkOpacity,
    scale: project.watermarkScale,
    margin: project.watermarkMargin,
  };
}

const isPlaceholder = (format: string): format is PlaceholderKind =>
  placeholderKinds.some((placeholder) => placeholder === format);

/** The formats that the response may have; `json` describes the image of the request without `fmt`. */
function output(
  fmt: Options['fmt'],
  accepted: Accepted,
  autoFormat: boolean,
): Pick<Variant, 'formats' | 'negotiated' | 'refused' | 'placeholder'> {
  const placeholder = fmt !== undefined && isPlaceholder(fmt) ? fmt : null;
  if (placeholder !== null && placeholder !== 'json') {
    return { placeholder, formats: ['png'], negotiated: false, refused: [] };
  }
  const format = fmt === undefined || isPlaceholder(fmt) ? (autoFormat ? 'auto' : null) : fmt;
  if (format === 'auto') return { placeholder, ...accepted, negotiated: true };
  return { placeholder, formats: format === null ? [] : [format], negotiated: false, refused: [] };
}
