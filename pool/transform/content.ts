import type { Sharp } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { densityAt, maxSide, scaleAt, scaleWithin, svgPixels } from './bounds.ts';
import { cutArea, type Size, scaledSize, shrunkArea } from './geometry.ts';
import { kinds } from './kinds.ts';
import type { Picture } from './picture.ts';
import { type SourceFacts, upright } from './plan.ts';
import type { Area, Variant } from './variant.ts';

/** Opens the first frame of the source; an SVG at this many dots per inch, else null. */
type Open = (density: number | null) => Picture;

/**
 * Borders of more pixels than this are looked for in a smaller picture, and found to within its
 * pixels: it takes 0.2 s for each million, in a step that libvips does not interrupt.
 */
const maxTrimmedPixels = 8_000_000;

/** The smallest side in which libvips looks for borders. */
const minTrimmedSide = 3;

/**
 * The part of the upright source that a variant uses: what `crop` leaves of it, less the borders that
 * `trim` takes away; null for all of it.
 *
 * @throws ServiceError parameter_invalid when the crop is outside, and what reading the source throws
 */
export async function findContent(
  facts: SourceFacts,
  { crop, trim }: Variant,
  sourceMaxPixels: number,
  open: Open,
): Promise<Area | null> {
  if (crop === null && trim === null) return null;
  const whole = upright(facts);
  const cropped = cutArea(crop ?? { left: 0, top: 0, ...whole }, whole);
  if (cropped === null) {
    throw new ServiceError(
      'parameter_invalid',
      `crop is outside of the source, which is ${whole.width} x ${whole.height}.`,
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
  // In a pass of its own, since sharp trims before it crops and scales.
  await picture.settle();
  // Only the size is wanted: grey pixels are the cheapest there are.
  const trim = (image: Sharp) => image.trim({ threshold }).grayscale().raw();
  const { info } = await picture.apply(trim).write();
  const found = {
    left: -(info.trimOffsetLeft ?? 0),
    top: -(info.trimOffsetTop ?? 0),
    width: info.width,
    height: info.height,
  };
  return placedIn(area, found, size);
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
  const density = densityAt(scale, whole, pixels);
  const size = shrunkArea(area, scaleAt(density), whole);
  return { picture: open(density).apply((image) => image.extract(size)), size };
}

/** What was found in a scaled copy of an area, in whole pixels of the original around it. */
function placedIn(area: Area, found: Area, copy: Size): Area {
  const place = (start: number, length: number, first: number, factor: number) => {
    const from = Math.floor(start * factor);
    return [first + from, Math.ceil((start + length) * factor) - from] as const;
  };
  const [left, width] = place(found.left, found.width, area.left, area.width / copy.width);
  const [top, height] = place(found.top, found.height, area.top, area.height / copy.height);
  return { left, top, width, height };
}
