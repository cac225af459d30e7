import type { OverlayOptions, Sharp } from 'sharp';
import type { Copyright } from '../formats/metadata/copyright.ts';
import type { KeptMetadata } from '../formats/metadata/kept-metadata.ts';
import type { Variant } from '../variant.ts';
import { getEncoding } from './encode/encodings.ts';
import { type Place, requestedOperations } from './operations.ts';
import type { Plan } from './plan.ts';

/** A step's input. The plan contains all numbers. */
export interface StepContext {
  readonly plan: Plan;
  readonly variant: Variant;
  /** The watermark, the layers and what is above them, transformed and positioned. */
  readonly overlays: readonly OverlayOptions[];
  /** Null if metadata is stripped. */
  readonly metadata: KeptMetadata | null;
  /** Null if absent or not kept. */
  readonly copyright: Copyright | null;
}

/** Adds an operation to the pipeline if the variant requests it. */
export type Step = (image: Sharp, context: StepContext) => Sharp;

/** Applies the EXIF orientation, and sets the tag to 1 in case the metadata is kept. */
const orient: Step = (image) => image.autoOrient();

const crop: Step = (image, { plan }) =>
  plan.extract === null ? image : image.extract(plan.extract);
const cropUnlessPrepared: Step = (image, context) =>
  context.plan.prepared === null ? crop(image, context) : image;

/** sharp removes all samples that are not colours, one after the other, as alpha. */
const dropSamples: Step = (image) => image.removeAlpha();

const shrink: Step = (image, { plan, variant }) =>
  plan.prepared === null
    ? image
    : image.resize({
        ...plan.prepared,
        fit: 'fill',
        kernel: variant.kernel,
        fastShrinkOnLoad: plan.fastShrinkOnLoad,
      });

const flatten: Step = (image, { plan }) =>
  plan.flatten ? image.flatten({ background: plan.background }) : image;

const resize: Step = (image, { plan }) => {
  if (plan.resize === null) return image;
  const { window, ...options } = plan.resize;
  const resized = image.resize({ ...options, fastShrinkOnLoad: plan.fastShrinkOnLoad });
  return window === null ? resized : resized.extract(window);
};

const extend: Step = (image, { plan }) =>
  plan.border === null ? image : image.extend({ ...plan.border, background: plan.padding });

const operationsAt = (place: Place, { variant }: StepContext): readonly Step[] =>
  requestedOperations(variant, place).map(
    ({ operation, value }): Step =>
      (image, { plan }) =>
        operation.apply?.(image, value, plan) ?? image,
  );

/** What the operations above the layers draw. */
export const overlaysAbove = ({ plan, variant }: StepContext): readonly OverlayOptions[] =>
  requestedOperations(variant, 'above layers').flatMap(
    ({ operation, value }) => operation.overlay?.(value, plan) ?? [],
  );

const belowLayers: Step = (image, context) =>
  applySteps(image, operationsAt('below layers', context), context);

const layers: Step = (image, { overlays }) => image.composite([...overlays]);

/** By default sharp converts to sRGB and drops the profile, which is `convert`. */
const colour: Step = (image, { plan }) => {
  switch (plan.profile) {
    case 'keep':
      return image.keepIccProfile();
    case 'convert-16-bit':
      return image.withIccProfile('srgb', { attach: false });
    case 'convert':
      return image;
  }
};

const metadata: Step = (image, { metadata: kept }) => {
  if (kept === null) return image;
  const withExif = kept.exif === 'kept' ? image.keepExif() : image;
  if (kept.xmp === null) return withExif.keepXmp();
  return kept.xmp === '' ? withExif : withExif.withXmp(kept.xmp);
};

/** Runs only in the last pass, because later passes would lose EXIF. */
const copyright: Step = (image, { copyright: notice }) =>
  notice === null ? image : image.withExif({ IFD0: { ...notice.exif } }).withXmp(notice.xmp);

/** sharp keeps all EXIF with a density, unless other EXIF replaces it. */
const density: Step = (image, { plan, variant, metadata: kept }) => {
  if (variant.density === null || getEncoding(plan.format).density !== true) return image;
  const cleared = kept?.exif === 'kept' ? image : image.withExif({});
  return cleared.withDensity(variant.density);
};

const gainMap: Step = (image, { plan }) => (plan.gainMap ? image.keepGainMap() : image);

/** sharp's maximum for delays (in ms) and loop counts. Decoders can return larger values. */
const maxTiming = 65_535;

/** Sets an animation's delays and loops, which are lost if frames are processed individually. */
export const withTiming = (image: Sharp, plan: Plan): Sharp => {
  if (plan.timing === null) return image;
  const delay = plan.timing.delay.map((ms) => Math.min(ms, maxTiming));
  const options = { delay, loop: Math.min(plan.timing.loop, maxTiming) };
  return getEncoding(plan.format).time?.(image, options) ?? image;
};

/**
 * A transform's passes, in order. sharp runs a pipeline's operations in a fixed order, which each
 * list follows. If another order is needed, the next pass starts from the rendered result.
 */
export const passes = {
  /**
   * Removes samples other than colours and alpha, which most operations cannot handle. Also reduces
   * 16 bits to 8, so it does not turn the image; see Plan.
   */
  dropSamples: [dropSamples, colour, metadata],
  /** Reduces 16 to 8 bits in the source's own profile; see Plan. */
  reduceDepth: [colour, metadata],
  /** Extracts and scales the used area in a separate pass. */
  prepare: [orient, crop, shrink, colour, metadata],
  opacity: [belowLayers, colour, metadata],
  layers: [layers, colour, metadata],
  encode: [colour, metadata, density, copyright, gainMap],
} satisfies Readonly<Record<string, readonly Step[]>>;

/** Returns the passes that transform the image; several only if sharp's order would be wrong. */
export function imagePasses(context: StepContext): readonly (readonly Step[])[] {
  const { plan } = context;
  const at = (place: Place) => operationsAt(place, context);
  const begin = [orient, ...at('turn'), cropUnlessPrepared, flatten, ...at('resize')];
  const shaping = plan.padsLast
    ? [[...begin, resize]]
    : plan.separatePadding
      ? [[...begin, resize], [extend]]
      : [[...begin, resize, extend]];
  const stages = [...shaping, ...at('filter').map((filter) => [filter])];
  const lists = plan.separateFilters
    ? stages
    : [...shaping.slice(0, -1), stages.slice(shaping.length - 1).flat()];
  const finished = [...lists.slice(0, -1), [...(lists.at(-1) ?? []), ...at('finish')]];
  return [...finished, ...(plan.padsLast ? [[extend]] : [])].map((steps) => [
    ...steps,
    colour,
    metadata,
  ]);
}

export function applySteps(image: Sharp, steps: readonly Step[], context: StepContext): Sharp {
  return steps.reduce((pipeline, step) => step(pipeline, context), image);
}
