import { ServiceError } from '../../contract/errors.ts';
import { maxFramePixels, maxSide } from '../bounds.ts';
import { vectorScale } from '../formats/bounds.ts';
import type { SourceFacts } from '../formats/source-format.ts';
import { clipArea, type Size, scaledArea, scaledSize, scaleWithin } from '../geometry.ts';
import type { Area, Variant } from '../variant.ts';
import type { Pipeline } from './pipeline.ts';
import { upright } from './plan.ts';

/** Opens the first frame of the source; vector graphics at this scale, else null. */
type Open = (scale: number | null) => Pipeline | Promise<Pipeline>;

/**
 * Maximum pixels to search for borders; larger images are scaled down, which reduces the precision.
 * The search takes 0.2 s per megapixel, and libvips does not interrupt it.
 */
const maxTrimmedPixels = 8_000_000;

/** Minimum side for libvips' search for borders. */
const minTrimmedSide = 3;

/**
 * Returns the area of the upright source after `crop`; null for the whole source.
 *
 * @throws ServiceError parameter_invalid if the crop is outside the source
 */
export function croppedArea(facts: SourceFacts, { crop }: Variant): Area | null {
  if (crop === null) return null;
  const whole = upright(facts);
  const area = clipArea(crop, whole);
  if (area !== null) return unlessWhole(area, whole);
  throw new ServiceError(
    'parameter_invalid',
    `crop is outside the source, which is ${whole.width} x ${whole.height}.`,
  );
}

/** Returns whether `crop` reaches beyond the upright source. */
export function isClipped(facts: SourceFacts, { crop }: Variant): boolean {
  if (crop === null) return false;
  const { width, height } = upright(facts);
  return crop.left + crop.width > width || crop.top + crop.height > height;
}

/**
 * Returns the area of the upright source after `crop` and `trim`; null for the whole source.
 *
 * @throws ServiceError parameter_invalid if the crop is outside the source, or a decoding error
 */
export async function findUsedArea(
  facts: SourceFacts,
  variant: Variant,
  sourceMaxPixels: number,
  open: Open,
): Promise<Area | null> {
  const cropped = croppedArea(facts, variant);
  if (variant.trim === null) return cropped;
  const whole = upright(facts);
  const area = cropped ?? { left: 0, top: 0, ...whole };
  return unlessWhole(await trimmed(facts, area, variant.trim, sourceMaxPixels, open), whole);
}

const unlessWhole = (area: Area, whole: Size): Area | null =>
  area.width === whole.width && area.height === whole.height ? null : area;

async function trimmed(
  facts: SourceFacts,
  area: Area,
  threshold: number,
  sourceMaxPixels: number,
  open: Open,
): Promise<Area> {
  const scale = Math.min(1, scaleWithin(area, maxSide, maxTrimmedPixels));
  const { pipeline, size } = facts.format.vector
    ? await openVector(facts, area, scale, sourceMaxPixels, open)
    : await openPixels(area, scale, open);
  if (size.width < minTrimmedSide || size.height < minTrimmedSide) return area;
  // A separate pass, because sharp trims before it crops and scales.
  await pipeline.render();
  // Writes the pixels in the cheapest form, because only the size is used.
  const { info } = await pipeline.write((image) => image.trim({ threshold }).grayscale().raw());
  const { trimOffsetLeft = 0, trimOffsetTop = 0, width, height } = info;
  return inOriginal(area, { left: -trimOffsetLeft, top: -trimOffsetTop, width, height }, size);
}

async function openPixels(area: Area, scale: number, open: Open) {
  const size = scaledSize(area, scale);
  const pipeline = (await open(null)).apply((image) => {
    const part = image.autoOrient().extract(area);
    return scale === 1 ? part : part.resize({ ...size, fit: 'fill' });
  });
  return { pipeline, size };
}

async function openVector(
  facts: SourceFacts,
  area: Area,
  scale: number,
  sourceMaxPixels: number,
  open: Open,
) {
  const whole = upright(facts);
  const opened = vectorScale(scale, whole, Math.min(maxFramePixels, sourceMaxPixels));
  const size = scaledArea(area, opened, whole);
  const pipeline = await open(opened);
  return { pipeline: pipeline.apply((image) => image.extract(size)), size };
}

/**
 * Converts an area of a scaled copy to original pixels, rounded outwards within `area`, because SVG
 * sizes can be fractional.
 */
function inOriginal(area: Area, found: Area, copy: Size): Area {
  const convert = (start: number, length: number, first: number, whole: number, copied: number) => {
    const factor = whole / copied;
    const from = Math.floor(start * factor);
    const to = Math.min(whole, Math.ceil((start + length) * factor));
    return [first + from, to - from] as const;
  };
  const [left, width] = convert(found.left, found.width, area.left, area.width, copy.width);
  const [top, height] = convert(found.top, found.height, area.top, area.height, copy.height);
  return { left, top, width, height };
}
