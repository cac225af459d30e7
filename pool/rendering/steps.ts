import type { OverlayOptions, Sharp } from 'sharp';
import type { Copyright } from '../formats/metadata/copyright.ts';
import type { KeptMetadata } from '../formats/metadata/kept-metadata.ts';
import type { Variant } from '../variant.ts';
import type { Rgba } from './background.ts';
import { encodingOf } from './encode/encodings.ts';
import type { Plan } from './plan.ts';

/** Input of a step. The plan has all numbers. */
export interface StepContext {
  readonly plan: Plan;
  readonly variant: Variant;
  /** The watermark and the layers, transformed and positioned. */
  readonly overlays: readonly OverlayOptions[];
  /** Null when metadata is stripped. */
  readonly metadata: KeptMetadata | null;
  /** Null when the source has none, or it is not kept. */
  readonly copyright: Copyright | null;
}

/** Adds one operation to the pipeline, or nothing when the variant does not request it. */
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

const flip: Step = (image, { variant }) => (variant.flip ? image.flip() : image);
const flop: Step = (image, { variant }) => (variant.flop ? image.flop() : image);

const rotate: Step = (image, { plan, variant }) =>
  variant.rotate === 0
    ? image
    : image.rotate(variant.rotate, { background: premultiplied(plan.background) });

/** libvips rotates premultiplied colours, but does not premultiply the background. */
function premultiplied({ r, g, b, alpha }: Rgba): Rgba {
  return { r: Math.round(r * alpha), g: Math.round(g * alpha), b: Math.round(b * alpha), alpha };
}

const flatten: Step = (image, { plan }) =>
  plan.flatten ? image.flatten({ background: plan.background }) : image;

/** Omitted before a tint, which uses only the luminance: sharp adds no colour to grey pixels. */
const grayscale: Step = (image, { variant }) =>
  variant.grayscale && variant.tint === null ? image.grayscale() : image;

/** sharp darkens before the resize and brightens after it, so that the resize averages linear light. */
const gamma: Step = (image, { variant }) =>
  variant.gamma === null ? image : image.gamma(variant.gamma);

const resize: Step = (image, { plan }) => {
  if (plan.resize === null) return image;
  const { background, fastShrinkOnLoad } = plan;
  const { window, ...options } = plan.resize;
  const resized = image.resize({ ...options, background, fastShrinkOnLoad });
  return window === null ? resized : resized.extract(window);
};

/** The resize without background; a later `resize` step adds the background. */
const scale: Step = (image, context) => {
  const { plan } = context;
  if (plan.resize?.fit !== 'contain') return resize(image, context);
  const { width, height, kernel } = plan.resize;
  const { fastShrinkOnLoad } = plan;
  return image.resize({ width, height, fit: 'inside', kernel, fastShrinkOnLoad });
};

/** The rest of the resize after `scale`. */
const pad: Step = (image, context) =>
  context.plan.resize?.fit === 'contain' ? resize(image, context) : image;

const extend: Step = (image, { plan }) =>
  plan.border === null ? image : image.extend({ ...plan.border, background: plan.background });

/** libvips refuses a window larger than the image. */
const median: Step = (image, { plan, variant }) =>
  variant.median === null ? image : image.median(Math.min(variant.median, plan.width, plan.height));

/** A linear function so steep that it has two values. sharp's own threshold also changes alpha. */
const threshold: Step = (image, { variant }) =>
  variant.threshold === null ? image : image.grayscale().linear(255, 255 * (1 - variant.threshold));

const blur: Step = (image, { variant }) =>
  variant.blur === null ? image : image.blur({ sigma: variant.blur });

const modulate: Step = (image, { variant }) =>
  variant.modulate === null ? image : image.modulate(variant.modulate);

const sharpen: Step = (image, { variant }) =>
  variant.sharpen === null ? image : image.sharpen({ sigma: variant.sharpen });

/** The filters with their parameters, in sharp's order. */
const filters = [
  ['median', median],
  ['threshold', threshold],
  ['blur', blur],
  ['modulate', modulate],
  ['sharpen', sharpen],
] as const satisfies readonly (readonly [keyof Variant, Step])[];

const normalize: Step = (image, { variant }) => (variant.normalize ? image.normalize() : image);

const tint: Step = (image, { plan }) => (plan.tint === null ? image : image.tint(plan.tint));

const negate: Step = (image, { variant }) =>
  variant.negate ? image.negate({ alpha: false }) : image;

/** Blends an image that cannot be transparent with the background. */
const opacity: Step = (image, { plan, variant }) => {
  const factor = variant.opacity ?? 1;
  if (variant.flatten || !encodingOf(plan.format).alpha) {
    const { r, g, b } = plan.background;
    const rest = [r, g, b].map((channel) => channel * (1 - factor));
    return image.linear([factor, factor, factor], rest);
  }
  const pixel = { r: 0, g: 0, b: 0, alpha: factor };
  const input = { create: { width: 1, height: 1, channels: 4 as const, background: pixel } };
  return image.composite([{ input, tile: true, blend: 'dest-in' }]);
};

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

/** Only in the last pass, because further passes would lose EXIF. */
const copyright: Step = (image, { copyright: notice }) =>
  notice === null ? image : image.withExif({ IFD0: { ...notice.exif } }).withXmp(notice.xmp);

const gainMap: Step = (image, { plan }) => (plan.gainMap ? image.keepGainMap() : image);

/** sharp's maximum for delays (in ms) and loop counts. Decoders may return larger values. */
const maxTiming = 65_535;

/** Sets delays and loops of an animation, which are lost when frames are processed one by one. */
export const withTiming = (image: Sharp, plan: Plan): Sharp => {
  if (plan.timing === null) return image;
  const delay = plan.timing.delay.map((ms) => Math.min(ms, maxTiming));
  const options = { delay, loop: Math.min(plan.timing.loop, maxTiming) };
  return encodingOf(plan.format).time?.(image, options) ?? image;
};

/**
 * The passes of a transform, in order. sharp runs the operations of a pipeline in a fixed order, which each
 * list follows. Where another order is needed, the next pass starts from the rendered result.
 */
export const passes = {
  /**
   * Removes samples that are neither colours nor alpha, which most operations cannot handle. Also reduces 16 bits to 8,
   * so it does not turn the image; see Plan.
   */
  dropSamples: [dropSamples, colour, metadata],
  /** From 16 to 8 bits in the source's own profile; see Plan. */
  reduceDepth: [colour, metadata],
  /** Extracts and scales the used area in a separate pass. */
  prepare: [orient, crop, shrink, colour, metadata],
  opacity: [opacity, colour, metadata],
  layers: [layers, colour, metadata],
  encode: [colour, metadata, copyright, gainMap],
} satisfies Readonly<Record<string, readonly Step[]>>;

/** The passes that transform the image: more than one only when sharp's order would be wrong. */
export function imagePasses({ plan, variant }: StepContext): readonly (readonly Step[])[] {
  const begin = [orient, flip, flop, rotate, cropUnlessPrepared, flatten, gamma, grayscale];
  const shaping = plan.separatePadding
    ? [
        [...begin, scale],
        [pad, extend],
      ]
    : [[...begin, resize, extend]];
  const filtering = filters.filter(([name]) => variant[name] !== null).map(([, step]) => [step]);
  const stages = [...shaping, ...filtering];
  const lists = plan.separateFilters
    ? stages
    : [...shaping.slice(0, -1), stages.slice(shaping.length - 1).flat()];
  const last = lists.length - 1;
  return lists.map((steps, index) => [
    ...steps,
    ...(index === last ? [normalize, tint, negate] : []),
    colour,
    metadata,
  ]);
}

export function applySteps(image: Sharp, steps: readonly Step[], context: StepContext): Sharp {
  return steps.reduce((pipeline, step) => step(pipeline, context), image);
}
