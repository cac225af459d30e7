import type { OverlayOptions, Sharp } from 'sharp';
import { rgba } from './background.ts';
import { encodings } from './encode.ts';
import type { Plan } from './plan.ts';
import type { Variant } from './variant.ts';

/** What a step may look at: all numbers were decided in the plan. */
export interface Job {
  readonly plan: Plan;
  readonly variant: Variant;
  /** The watermark, drawn and in its place. */
  readonly overlay: OverlayOptions | null;
}

/** Adds one operation to the picture's pipeline, or nothing when the variant does not ask for it. */
type Step = (image: Sharp, job: Job) => Sharp;

/** Turns the picture as its EXIF orientation says, and sets the tag to 1 for where it is kept. */
const orient: Step = (image) => image.autoOrient();

const crop: Step = (image, { plan }) => (plan.cut === null ? image : image.extract(plan.cut));
const cropUnlessPrepared: Step = (image, job) =>
  job.plan.prepared === null ? crop(image, job) : image;

/** To the pixels that are worth keeping for the steps after it. */
const shrink: Step = (image, { plan }) =>
  plan.prepared === null ? image : image.resize({ ...plan.prepared, fit: 'fill' });

const flip: Step = (image, { variant }) => (variant.flip ? image.flip() : image);
const flop: Step = (image, { variant }) => (variant.flop ? image.flop() : image);

const rotate: Step = (image, { plan, variant }) =>
  variant.rotate === 0 ? image : image.rotate(variant.rotate, { background: plan.background });

const flatten: Step = (image, { plan }) =>
  plan.flatten ? image.flatten({ background: plan.background }) : image;

const grayscale: Step = (image, { variant }) => (variant.grayscale ? image.grayscale() : image);

/** Darkens before the resize and brightens after it, as sharp does, so that light is averaged. */
const gamma: Step = (image, { variant }) =>
  variant.gamma === null ? image : image.gamma(variant.gamma);

const resize: Step = (image, { plan }) => {
  if (plan.resize === null) return image;
  const { width, height, fit, position, kernel } = plan.resize;
  return image.resize({ width, height, fit, position, kernel, background: plan.background });
};

const extend: Step = (image, { plan }) =>
  plan.border === null ? image : image.extend({ ...plan.border, background: plan.background });

const median: Step = (image, { variant }) =>
  variant.median === null ? image : image.median(variant.median);

/** sharp takes 0 for no threshold; as one it makes all of a picture white. */
const threshold: Step = (image, { variant }) => {
  if (variant.threshold === null) return image;
  return variant.threshold === 0 ? image.linear(0, 255) : image.threshold(variant.threshold);
};

const blur: Step = (image, { variant }) =>
  variant.blur === null ? image : image.blur({ sigma: variant.blur });

const modulate: Step = (image, { variant }) =>
  variant.modulate === null ? image : image.modulate(variant.modulate);

const sharpen: Step = (image, { variant }) =>
  variant.sharpen === null ? image : image.sharpen({ sigma: variant.sharpen });

const normalize: Step = (image, { variant }) => (variant.normalize ? image.normalize() : image);

const tint: Step = (image, { variant }) =>
  variant.tint === null ? image : image.tint(rgba(variant.tint));

const negate: Step = (image, { variant }) =>
  variant.negate ? image.negate({ alpha: false }) : image;

/** Where the output cannot be transparent the background shines through. */
const fade: Step = (image, { plan, variant }) => {
  const opacity = variant.opacity ?? 1;
  if (plan.flatten || !encodings[plan.format].alpha) {
    const { r, g, b } = plan.background;
    const rest = [r, g, b].map((channel) => channel * (1 - opacity));
    return image.linear([opacity, opacity, opacity], rest);
  }
  const pixel = { r: 0, g: 0, b: 0, alpha: opacity };
  const input = { create: { width: 1, height: 1, channels: 4 as const, background: pixel } };
  return image.composite([{ input, tile: true, blend: 'dest-in' }]);
};

const watermark: Step = (image, { overlay }) =>
  overlay === null ? image : image.composite([overlay]);

/** Without a call of its own sharp converts to sRGB and drops the profile: `convert`. */
const colour: Step = (image, { plan }) => {
  switch (plan.profile) {
    case 'keep':
      return image.keepIccProfile();
    case 'convert-deep':
      return image.withIccProfile('srgb', { attach: false });
    case 'convert':
      return image;
  }
};

const metadata: Step = (image, { variant }) =>
  variant.stripMetadata ? image : image.keepExif().keepXmp();

const encode: Step = (image, { plan, variant }) =>
  encodings[plan.format].encode(image, {
    quality: variant.quality,
    lossless: variant.lossless,
    animated: plan.animated,
    pixels: plan.width * plan.height,
  });

/** Asked for by itself, since it is lost where frames were drawn one by one. */
const timing: Step = (image, { plan }) => {
  if (plan.timing === null) return image;
  const options = { delay: [...plan.timing.delay], loop: plan.timing.loop };
  return plan.format === 'gif' ? image.gif(options) : image.webp(options);
};

/**
 * A transform from decoded picture to encoded output, in order. sharp runs the operations of one
 * pipeline in an order of its own, which each list follows; where the service's order needs
 * another, the picture is rendered and the next list begins with what came out.
 */
export const passes = {
  /** The part that is used, where it cannot be had in one pass with the rest. */
  prepare: [orient, crop, shrink, colour, metadata],
  /** All that makes the picture. */
  draw: [
    ...[orient, flip, flop, rotate, cropUnlessPrepared, flatten, gamma, grayscale, resize, extend],
    ...[median, threshold, blur, modulate, sharpen, normalize, tint, negate, colour, metadata],
  ],
  fade: [fade, colour, metadata],
  mark: [watermark, colour, metadata],
  encode: [encode, timing],
} satisfies Readonly<Record<string, readonly Step[]>>;

export function applySteps(image: Sharp, steps: readonly Step[], job: Job): Sharp {
  return steps.reduce((done, step) => step(done, job), image);
}
