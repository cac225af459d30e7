import { createHash } from 'node:crypto';
import type { OutputFormat, Variant } from '../../pool/transform/variant.ts';
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

/**
 * A variant as text, the same for all requests that lead to the same bytes: what cannot matter
 * for the output is left out.
 */
export function canonicalForm(variant: Variant): string {
  const boxed = variant.width !== null && variant.height !== null;
  const relevant: { readonly [N in keyof Variant]: unknown } = {
    ...variant,
    fit: boxed ? variant.fit : null,
    formats: variant.formats.join('>'),
    negotiated: variant.formats.length === 0 ? null : variant.negotiated,
  };
  return Object.entries(relevant)
    .filter(([, value]) => value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** The cache key of a variant: hexadecimal SHA-256 of project, source and canonical form. */
export function variantKey(projectId: string, source: URL, variant: Variant): string {
  return createHash('sha256')
    .update(`${projectId}\n${source.href}\n${canonicalForm(variant)}`)
    .digest('hex');
}
