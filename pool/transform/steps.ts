import type { OverlayOptions, Sharp } from 'sharp';
import { type Rgba, rgba } from './background.ts';
import { encodings } from './encode.ts';
import type { Plan } from './plan.ts';
import type { Variant } from './variant.ts';

/** What a step may look at: all numbers were decided in the plan. */
export interface StepContext {
  readonly plan: Plan;
  readonly variant: Variant;
  /** The watermark, transformed and positioned. */
  readonly overlay: OverlayOptions | null;
}

/** Adds one operation to the picture's pipeline, or nothing when the variant does not ask for it. */
type Step = (image: Sharp, context: StepContext) => Sharp;

/** Turns the picture as its EXIF orientation says, and sets the tag to 1 for where it is kept. */
const orient: Step = (image) => image.autoOrient();

const crop: Step = (image, { plan }) => (plan.cut === null ? image : image.extract(plan.cut));
const cropUnlessPrepared: Step = (image, context) =>
  context.plan.prepared === null ? crop(image, context) : image;

/** To the pixels that are worth keeping for the steps after it. */
const shrink: Step = (image, { plan }) =>
  plan.prepared === null ? image : image.resize({ ...plan.prepared, fit: 'fill' });

const flip: Step = (image, { variant }) => (variant.flip ? image.flip() : image);
const flop: Step = (image, { variant }) => (variant.flop ? image.flop() : image);

const rotate: Step = (image, { plan, variant }) =>
  variant.rotate === 0
    ? image
    : image.rotate(variant.rotate, { background: premultiplied(plan.background) });

/** libvips turns colours that it multiplied with alpha, and takes the background as it is. */
function premultiplied({ r, g, b, alpha }: Rgba): Rgba {
  return { r: Math.round(r * alpha), g: Math.round(g * alpha), b: Math.round(b * alpha), alpha };
}

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

/** As far as that needs no background; what is left for `resize` is to put it in its place. */
const scale: Step = (image, context) => {
  const { plan } = context;
  if (plan.resize?.fit !== 'contain') return resize(image, context);
  const { width, height, kernel } = plan.resize;
  return image.resize({ width, height, fit: 'inside', kernel });
};

const extend: Step = (image, { plan }) =>
  plan.border === null ? image : image.extend({ ...plan.border, background: plan.background });

/** libvips takes no window that is larger than the picture. */
const median: Step = (image, { plan, variant }) =>
  variant.median === null ? image : image.median(Math.min(variant.median, plan.width, plan.height));

/** A line so steep that it has but two values; sharp's own threshold takes in the alpha channel. */
const threshold: Step = (image, { variant }) =>
  variant.threshold === null ? image : image.grayscale().linear(255, 255 * (1 - variant.threshold));

const blur: Step = (image, { variant }) =>
  variant.blur === null ? image : image.blur({ sigma: variant.blur });

const modulate: Step = (image, { variant }) =>
  variant.modulate === null ? image : image.modulate(variant.modulate);

const sharpen: Step = (image, { variant }) =>
  variant.sharpen === null ? image : image.sharpen({ sigma: variant.sharpen });

/** By what asks for them, in sharp's order. */
const filters = [
  ['median', median],
  ['threshold', threshold],
  ['blur', blur],
  ['modulate', modulate],
  ['sharpen', sharpen],
] as const satisfies readonly (readonly [keyof Variant, Step])[];

const normalize: Step = (image, { variant }) => (variant.normalize ? image.normalize() : image);

const tint: Step = (image, { variant }) =>
  variant.tint === null ? image : image.tint(rgba(variant.tint));

const negate: Step = (image, { variant }) =>
  variant.negate ? image.negate({ alpha: false }) : image;

/** Where the output cannot be transparent the background shines through. */
const fade: Step = (image, { plan, variant }) => {
  const opacity = variant.opacity ?? 1;
  if (variant.flatten || !encodings[plan.format].alpha) {
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

/** The most that sharp takes as a delay in ms or as a loop count; decoders give more of both. */
const mostTiming = 65_535;

/** Asked for by itself, since it is lost where frames were processed one by one. */
const timing: Step = (image, { plan }) => {
  if (plan.timing === null) return image;
  const delay = plan.timing.delay.map((ms) => Math.min(ms, mostTiming));
  const options = { delay, loop: Math.min(plan.timing.loop, mostTiming) };
  return plan.format === 'gif' ? image.gif(options) : image.webp(options);
};

/**
 * A transform from decoded picture to encoded output, in order. sharp runs the operations of one
 * pipeline in an order of its own, which each list follows; where the service's order needs
 * another, the picture is rendered and the next list begins with what came out.
 */
export const passes = {
  /** 8 bits of 16 in the source's own profile, see the plan. */
  level: [colour, metadata],
  /** The part that is used, where it cannot be had in one pass with the rest. */
  prepare: [orient, crop, shrink, colour, metadata],
  fade: [fade, colour, metadata],
  mark: [watermark, colour, metadata],
  encode: [encode, timing],
} satisfies Readonly<Record<string, readonly Step[]>>;

/** All that makes the picture: more than one pass only where one would not be right. */
export function picturePasses({ plan, variant }: StepContext): readonly (readonly Step[])[] {
  const begin = [orient, flip, flop, rotate, cropUnlessPrepared, flatten, gamma, grayscale];
  const shaping = plan.paddedApart
    ? [
        [...begin, scale],
        [resize, extend],
      ]
    : [[...begin, resize, extend]];
  const filtering = filters.filter(([name]) => variant[name] !== null).map(([, step]) => [step]);
  const stages = [...shaping, ...filtering];
  const lists = plan.filtersApart
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
  return steps.reduce((done, step) => step(done, context), image);
}
