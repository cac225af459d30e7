import type { Sharp } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { maxSide } from '../bounds.ts';
import type { SourceFacts } from '../formats/facts.ts';
import { kinds } from '../formats/kinds.ts';
import { svgPixels, svgScale } from '../formats/svg/scale.ts';
import { clipArea, type Size, scaledArea, scaledSize, scaleWithin } from '../geometry.ts';
import type { Area, Variant } from '../variant.ts';
import type { Pipeline } from './pipeline.ts';
import { upright } from './plan.ts';

/** Opens the first frame of the source; an SVG with this many pixels for each of its own, else null. */
type Open = (scale: number | null) => Pipeline;

/**
 * In images with more pixels than this, borders are searched in a smaller copy, and found with its
 * precision: the search takes 0.2 s per megapixel, in a step that libvips does not interrupt.
 */
const maxTrimmedPixels = 8_000_000;

/** The smallest side for which libvips searches borders. */
const minTrimmedSide = 3;

/**
 * The area of the upright source that a variant uses, after `crop` and `trim`; null for the whole
 * source.
 *
 * @throws ServiceError parameter_invalid when the crop is outside the source, or an error of decoding
 */
export async function findUsedArea(
  facts: SourceFacts,
  { crop, trim }: Variant,
  sourceMaxPixels: number,
  open: Open,
): Promise<Area | null> {
  if (crop === null && trim === null) return null;
  const whole = upright(facts);
  const cropped = clipArea(crop ?? { left: 0, top: 0, ...whole }, whole);
  if (cropped === null) {
    throw new ServiceError(
      'parameter_invalid',
      `crop is outside the source, which is ${whole.width} x ${whole.height}.`,
    );
  }
  const area = trim === null ? cropped : await trimmed(facts, cropped, trim, sourceMaxPixels, open);
  return area.width === whole.width && area.height === whole.height ? null : area;
}

async function trimmed(
  facts: SourceFacts,
  area: Area,
  threshold: number,
  sourceMaxPixels: number,
  open: Open,
): Promise<Area> {
  const scale = Math.min(1, scaleWithin(area, maxSide, maxTrimmedPixels));
  const { picture, size } = kinds[facts.kind].vector
    ? openSvg(facts, area, scale, sourceMaxPixels, open)
    : openPixels(area, scale, open);
  if (size.width < minTrimmedSide || size.height < minTrimmedSide) return area;
  // A separate pass, because sharp trims before it crops and scales.
  await picture.settle();
  // Only the size is used, so the pixels are written in the cheapest form.
  const trim = (image: Sharp) => image.trim({ threshold }).grayscale().raw();
  const { info } = await picture.apply(trim).write();
  const found = {
    left: -(info.trimOffsetLeft ?? 0),
    top: -(info.trimOffsetTop ?? 0),
    width: info.width,
    height: info.height,
  };
  return inOriginal(area, found, size);
}

function openPixels(area: Area, scale: number, open: Open) {
  const size = scaledSize(area, scale);
  const picture = open(null).apply((image) => {
    const part = image.autoOrient().extract(area);
    return scale === 1 ? part : part.resize({ ...size, fit: 'fill' });
  });
  return { picture, size };
}

function openSvg(
  facts: SourceFacts,
  area: Area,
  scale: number,
  sourceMaxPixels: number,
  open: Open,
) {
  const whole = upright(facts);
  const pixels = svgPixels(whole, facts.svg, sourceMaxPixels);
  const opened = svgScale(scale, whole, pixels);
  const size = scaledArea(area, opened, whole);
  return { picture: open(opened).apply((image) => image.extract(size)), size };
}

/** Converts an area of a scaled copy to pixels of the original, rounded outwards. */
function inOriginal(area: Area, found: Area, copy: Size): Area {
  const convert = (start: number, length: number, first: number, factor: number) => {
    const from = Math.floor(start * factor);
    return [first + from, Math.ceil((start + length) * factor) - from] as const;
  };
  const [left, width] = convert(found.left, found.width, area.left, area.width / copy.width);
  const [top, height] = convert(found.top, found.height, area.top, area.height / copy.height);
  return { left, top, width, height };
}
