import type { Sharp } from 'sharp';
import { encodings } from './encode.ts';
import type { Plan } from './plan.ts';
import type { Variant } from './variant.ts';

/** What a step may look at: all numbers were decided in the plan. */
export interface Job {
  readonly plan: Plan;
  readonly variant: Variant;
}

/** Adds one operation to the picture's pipeline, or nothing when the variant does not ask for it. */
type Step = (image: Sharp, job: Job) => Sharp;

const white = { r: 255, g: 255, b: 255, alpha: 1 };
const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** Turns the picture as its EXIF orientation says, and sets the tag to 1 for where it is kept. */
const orient: Step = (image) => image.autoOrient();

/** White, since most pages are, where the format cannot hold transparency. */
const flattenForFormat: Step = (image, { plan }) =>
  plan.flatten ? image.flatten({ background: white }) : image;

const resize: Step = (image, { plan }) =>
  plan.resize === null
    ? image
    : image.resize({
        width: plan.width,
        height: plan.height,
        fit: plan.resize.fit,
        background: encodings[plan.format].alpha ? transparent : white,
      });

/** The frames of an animation are one tall picture here: where they meet, they blur together. */
const blur: Step = (image, { variant }) =>
  variant.blur === null ? image : image.blur({ sigma: variant.blur });

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
  encodings[plan.format].encode(image, variant.quality, plan.animated);

/**
 * A transform from decoded picture to encoded output, in order. sharp runs its operations in an
 * order of its own, which this list follows; a new step that needs another order (a crop after a
 * turn, say) has to render what comes before it and begin again from there.
 */
const steps = [
  orient,
  flattenForFormat,
  resize,
  blur,
  colour,
  metadata,
  encode,
] satisfies readonly Step[];

export function applySteps(image: Sharp, job: Job): Sharp {
  return steps.reduce((done, step) => step(done, job), image);
}
