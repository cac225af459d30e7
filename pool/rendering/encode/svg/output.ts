import { ServiceError } from '../../../../contract/errors.ts';
import type { Gravity } from '../../../../contract/image-terms.ts';
import { maxSide } from '../../../bounds.ts';
import { corrupt, unsupported } from '../../../formats/errors.ts';
import type { Container } from '../../../formats/source-format.ts';
import { readSvg } from '../../../formats/svg/format.ts';
import { findBrowserImages } from '../../../formats/svg/images.ts';
import { parseViewBox, readRoot, svgSize, unquoted } from '../../../formats/svg/root.ts';
import {
  type Box,
  fitBox,
  type Size,
  scaleWithin,
  withBorder,
  withPixels,
} from '../../../geometry.ts';
import {
  changedFields,
  effects,
  parametersOf,
  strategies,
  type Variant,
} from '../../../variant.ts';
import { sanitise } from './sanitise.ts';

/** An SVG and its size in whole pixels. */
export interface SvgOutput extends Size {
  readonly body: Buffer;
}

/**
 * Returns whether the output is the source as SVG, without reading the document.
 *
 * @throws ServiceError source_unsupported, parameter_invalid
 */
export function isSvgOutput({ format }: Container, variant: Variant): boolean {
  const { formats, negotiated, placeholder } = variant;
  if (!formats.includes('svg') || placeholder !== null) return false;
  const isSvg = format.name === 'svg';
  const field = findPixelField(variant);
  if (negotiated) return isSvg && field === null;
  if (!isSvg) throw unsupported(`fmt=svg needs an SVG source, not ${format.label}.`);
  if (field === null) return true;
  const names = parametersOf(field).join(' or ');
  throw new ServiceError(
    'parameter_invalid',
    `fmt=svg is not possible with ${names}, which needs pixels. Omit it, or request another format.`,
  );
}

/**
 * Returns the source as a sanitised SVG; null if the variant negotiates and the drawing is too
 * large. Only for processes: the sender chooses how long the document takes.
 *
 * @param maxPixels of all embedded images together
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function svgOutput(
  { bytes }: Container,
  variant: Variant,
  maxPixels: number,
): Promise<SvgOutput | null> {
  try {
    const document = await readSvg(bytes);
    const images = await findBrowserImages(document, maxPixels);
    return await write(document.text, variant, images);
  } catch (error) {
    const isTooLarge = error instanceof ServiceError && error.code === 'source_too_large';
    if (variant.negotiated && isTooLarge) return null;
    throw error;
  }
}

const unfollowed = effects.filter((effect) => effect !== 'source' && effect !== 'output');

/** Returns the first field that needs pixels, or null. */
function findPixelField(variant: Variant): keyof Variant | null {
  const { position, fit } = variant;
  const isPlaced =
    typeof position === 'object' || strategies.some((strategy) => strategy === position);
  if (isPlaced && fit === 'cover') return 'position';
  const minimum = (['minWidth', 'minHeight'] as const).find((field) => variant[field] !== null);
  return minimum ?? changedFields(variant, ...unfollowed)[0] ?? null;
}

async function write(
  text: string,
  requested: Variant,
  images: ReadonlySet<string>,
): Promise<SvgOutput> {
  const source = Buffer.from(text);
  const natural = svgSize(source);
  const variant = withPixels(requested, natural);
  const { attributes } = readRoot(source);
  const { width, height, aspectRatio, maxWidth } = variant;
  const longest = { width: Math.min(maxSide, maxWidth ?? maxSide), height: maxSide };
  const limits = { ...longest, pixels: Number.POSITIVE_INFINITY };
  const enlargement = scaleWithin(natural, maxSide, Number.POSITIVE_INFINITY);
  if (!(enlargement > 0)) throw corrupt('The SVG has an impossible size.');
  const box = fitBox(natural, variant, enlargement, limits);
  const isNatural =
    width === null && height === null && aspectRatio === null && natural.width <= limits.width;
  const padded = withBorder(box, box.border);
  const outer = isNatural ? natural : padded;
  const ownRatio = unquoted(attributes, 'preserveAspectRatio');
  const ratio = isNatural || ownRatio !== undefined ? null : preserveAspectRatio(box, variant);
  const root = {
    width: String(outer.width),
    height: String(outer.height),
    viewBox: visibleBox(parseViewBox(attributes), natural).join(' '),
    ...(ratio !== null && { preserveAspectRatio: ratio }),
  };
  const body = await sanitise(text, root, images);
  return { body: Buffer.from(body), width: padded.width, height: padded.height };
}

/**
 * Returns the part of the drawing that a viewport of the natural size shows, in its own
 * coordinates.
 */
function visibleBox(viewBox: readonly number[] | null, { width, height }: Size): readonly number[] {
  const [left = 0, top = 0, across = width, down = height] = viewBox ?? [];
  return [left, top, across || width, down || height];
}

const alignments: Readonly<Record<Gravity, string>> = {
  center: 'xMidYMid',
  north: 'xMidYMin',
  northeast: 'xMaxYMin',
  east: 'xMaxYMid',
  southeast: 'xMaxYMax',
  south: 'xMidYMax',
  southwest: 'xMinYMax',
  west: 'xMinYMid',
  northwest: 'xMinYMin',
};

/** Returns how the drawing fits the box; null if their ratios are equal. */
function preserveAspectRatio({ fit }: Box, variant: Variant): string | null {
  const { width, height, aspectRatio, position } = variant;
  const hasBox = (width !== null && height !== null) || aspectRatio !== null;
  if (!hasBox || variant.fit === 'inside' || variant.fit === 'outside') return null;
  if (variant.fit === 'fill') return 'none';
  const gravity = Object.entries(alignments).find(([name]) => name === position);
  return `${gravity?.[1] ?? alignments.center} ${fit === 'cover' ? 'slice' : 'meet'}`;
}
