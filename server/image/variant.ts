import { createHash } from 'node:crypto';
import { type OutputFormat, plainVariant, type Variant } from '../../pool/transform/variant.ts';
import type { ProjectSettings } from '../../store/projects.ts';
import { type Hints, snapWidth } from './negotiate.ts';
import type { Options } from './parameters.ts';

/** Device pixels of a CSS length; the smallest picture has one. */
const devicePixels = (css: number, dpr: number): number => Math.max(1, Math.round(css * dpr));

function minimum(...bounds: ReadonlyArray<number | null>): number | null {
  const given = bounds.filter((bound) => bound !== null);
  return given.length === 0 ? null : Math.min(...given);
}

/**
 * The effective values of a request: the query over client hints over the project's defaults.
 * @param accepted the formats that the client named, best first
 */
export function effectiveVariant(
  options: Options,
  hints: Hints,
  accepted: readonly OutputFormat[],
  project: ProjectSettings,
): Variant {
  const dpr = options.dpr ?? hints.dpr ?? project.defaultDpr;
  const sized = options.w !== undefined || options.h !== undefined;
  // A hinted width would crop or stretch a request that asks for a height.
  const hintedWidth = sized ? null : hints.width;
  const viewport =
    sized || hintedWidth !== null || hints.viewport === null
      ? null
      : snapWidth(hints.viewport * dpr);
  const format = options.fmt ?? (project.autoFormat ? 'auto' : null);
  return {
    ...plainVariant,
    width: options.w === undefined ? hintedWidth : devicePixels(options.w, dpr),
    height: options.h === undefined ? null : devicePixels(options.h, dpr),
    fit: options.fit ?? project.defaultFit,
    maxWidth: minimum(project.maxWidth, viewport),
    formats: format === 'auto' ? accepted : format === null ? [] : [format],
    negotiated: format === 'auto',
    quality: options.q ?? project.defaultQuality,
    blur: options.blur ?? null,
    stripMetadata: project.stripMetadata,
  };
}

/** Formats for which quality means nothing. */
const withoutQuality = new Set<OutputFormat>(['png', 'gif']);

/** A variant with what cannot matter for its bytes at its plain value. */
function relevant(variant: Variant): Variant {
  const { width, height, fit, formats } = variant;
  const boxed = width !== null && height !== null;
  const cutOrPlaced = boxed && (fit === 'cover' || fit === 'contain');
  const [only] = formats;
  const asked = formats.length === 1 && !variant.negotiated;
  return {
    ...variant,
    fit: boxed ? fit : plainVariant.fit,
    position: cutOrPlaced ? variant.position : plainVariant.position,
    negotiated: formats.length > 0 && variant.negotiated,
    quality:
      asked && only !== undefined && withoutQuality.has(only)
        ? plainVariant.quality
        : variant.quality,
  };
}

/** A variant as text, the same for all requests that lead to the same bytes. */
export function canonicalForm(variant: Variant): string {
  const plain = Object.entries(relevant(variant)).map(([name, value]) => [
    name,
    JSON.stringify(value),
  ]);
  return plain
    .filter(([name, value]) => value !== JSON.stringify(plainVariant[name as keyof Variant]))
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** The cache key of a variant: hexadecimal SHA-256 of project, source and canonical form. */
export function variantKey(projectId: string, source: URL, variant: Variant): string {
  return createHash('sha256')
    .update(`${projectId}\n${source.href}\n${canonicalForm(variant)}`)
    .digest('hex');
}
