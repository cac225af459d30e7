import type { Sharp } from 'sharp';
import { EngineFailure } from '../failure.ts';
import { cutArea } from './geometry.ts';
import type { Picture } from './picture.ts';
import { type SourceFacts, upright } from './plan.ts';
import type { Area, Variant } from './variant.ts';

/**
 * The part of the upright source that a variant uses: what `crop` leaves of it, less the borders that
 * `trim` takes away; null for all of it.
 *
 * @param open the first frame of the source
 * @throws EngineFailure parameter_invalid when the crop is outside, and what reading the source throws
 */
export async function findContent(
  facts: SourceFacts,
  { crop, trim }: Variant,
  open: () => Picture,
): Promise<Area | null> {
  if (crop === null && trim === null) return null;
  const whole = { left: 0, top: 0, ...upright(facts) };
  const cropped = crop === null ? whole : cutArea(crop, whole);
  if (cropped === null) {
    throw new EngineFailure(
      'parameter_invalid',
      `crop is outside of the source, which is ${whole.width} x ${whole.height}.`,
    );
  }
  const area = trim === null ? cropped : await withoutBorders(open(), cropped, trim);
  return area.width === whole.width && area.height === whole.height ? null : area;
}

async function withoutBorders(picture: Picture, area: Area, threshold: number): Promise<Area> {
  picture.apply((image) => image.autoOrient().extract(area));
  // sharp trims before it crops.
  await picture.settle();
  // Only the size is wanted: grey pixels are the cheapest there are.
  const trim = (image: Sharp) => image.trim({ threshold }).grayscale().raw();
  const { info } = await picture.apply(trim).write();
  return {
    left: area.left - (info.trimOffsetLeft ?? 0),
    top: area.top - (info.trimOffsetTop ?? 0),
    width: info.width,
    height: info.height,
  };
}
