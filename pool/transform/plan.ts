import { backgroundOf, type Rgba } from './background.ts';
import {
  densityAt,
  maxFramePixels,
  maxRows,
  maxSide,
  scaleAt,
  scaleWithin,
  svgPixels,
} from './bounds.ts';
import { encodings } from './encode.ts';
import {
  type Box,
  boundsOfTurned,
  fitBox,
  type Size,
  scaledSize,
  shrunkArea,
  withBorder,
} from './geometry.ts';
import { kinds, type SourceKind } from './kinds.ts';
import type { SvgCost } from './svg/read.ts';
import {
  type Area,
  type Edges,
  type Kernel,
  type OutputFormat,
  type Position,
  strategies,
  type Variant,
} from './variant.ts';

/** What is known of a source before a pixel of it is decoded. */
export interface SourceFacts {
  readonly kind: SourceKind;
  /** Pixels of one frame as stored, before the orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** 1 for all that is not an animation. */
  readonly frames: number;
  /** Null for what has one frame. */
  readonly timing: Timing | null;
  readonly hasAlpha: boolean;
  readonly colour: SourceColour;
  /** What drawing costs; null for all but SVG. */
  readonly svg: SvgCost | null;
}

export interface Timing {
  /** ms for each frame. */
  readonly delay: readonly number[];
  /** How often all are shown; 0 for ever. */
  readonly loop: number;
}

export interface SourceColour {
  readonly model: 'rgb' | 'grey' | 'other';
  readonly hasProfile: boolean;
  /** 16 bits a channel. */
  readonly deep: boolean;
}

/** How one source becomes one variant: every number and choice of a transform. */
export interface Plan {
  readonly format: OutputFormat;
  /** True when all frames are read and written. */
  readonly animated: boolean;
  /** Null for a still picture. */
  readonly timing: Timing | null;
  /** Size of the output (of each frame), in pixels. */
  readonly width: number;
  readonly height: number;
  /** Resolution at which a vector source is opened, in dots per inch; null for other kinds. */
  readonly density: number | null;
  /**
   * True when 16 bits a channel are made 8 before all else: sharp loses a profile that is to be kept
   * when such a picture is turned, blurred or normalised in the same pass.
   */
  readonly levelled: boolean;
  /** The part of the upright picture, as it was opened, that is used; null for all of it. */
  readonly cut: Area | null;
  /** Size at which that part is rendered before the rest is done; null where one pass does it all. */
  readonly prepared: Size | null;
  /** True when the frames of an animation are processed one by one. */
  readonly byFrame: boolean;
  /** How the turned part is brought to its size, borders aside; null when it has it already. */
  readonly resize: Resize | null;
  readonly border: Edges | null;
  /** True when background is added in a pass after the one that scales. */
  readonly paddedApart: boolean;
  /** True when each filter has a pass of its own. */
  readonly filtersApart: boolean;
  /** Of what the picture does not cover. */
  readonly background: Rgba;
  /** True when transparency has to be laid on the background. */
  readonly flatten: boolean;
  readonly profile: ProfileHandling;
}

export interface Resize extends Size {
  readonly fit: Box['fit'];
  readonly position: Position;
  readonly kernel: Kernel;
}

/**
 * What becomes of the colours: `keep` leaves them in the source's profile and attaches it, `convert`
 * makes them sRGB. `convert-deep` does the same where sharp would not: it brings 16-bit colours with
 * a profile to Display P3 and leaves them there, untagged.
 */
export type ProfileHandling = 'keep' | 'convert' | 'convert-deep';

/** What stands for a picture shows no detail: more pixels would only be averaged again. */
const maxPlaceholderSide = 200;

/**
 * @param content the part of the upright picture that is used, in its pixels; null for all of it
 * @param sourceMaxPixels of all frames together; bounds what lies between source and output too
 */
export function makePlan(
  facts: SourceFacts,
  content: Area | null,
  variant: Variant,
  sourceMaxPixels: number,
): Plan {
  const whole = upright(facts);
  const part: Size = content ?? whole;
  const moving = variant.animated && moves(facts);
  const format = chooseFormat(variant, facts, moving);
  const { alpha, animates } = encodings[format];
  const animated = moving && animates;
  const frames = animated ? facts.frames : 1;
  const { vector } = kinds[facts.kind];
  const framePixels = Math.min(maxFramePixels, sourceMaxPixels / frames);
  const { placeholder } = variant;
  const longest = placeholder === null || placeholder === 'json' ? maxSide : maxPlaceholderSide;
  const limits = {
    width: Math.min(longest, variant.maxWidth ?? longest),
    height: Math.min(longest, maxRows / frames),
    pixels: vector ? svgPixels(whole, facts.svg, sourceMaxPixels) : framePixels,
  };
  const turned = boundsOfTurned(part, variant.rotate);
  // An SVG has no size at which it is blurred, so it may be scaled up; but only to what may be
  // rasterised, since with a crop or `cover` much more than the output is rasterised.
  const enlargement = vector
    ? scaleWithin(whole, maxSide, limits.pixels)
    : variant.enlarge
      ? Math.max(1, scaleWithin(turned, 10 * maxSide, sourceMaxPixels / frames))
      : 1;

  const box = fitBox(turned, { ...variant, border: variant.extend }, enlargement, limits);
  const density = vector ? densityAt(box.scale, whole, limits.pixels) : null;
  const opened = density === null ? 1 : scaleAt(density);

  const free = variant.rotate % 90 !== 0;
  const turns = variant.rotate !== 0 || variant.flip || variant.flop;
  const padded = box.fit === 'contain' || variant.extend !== null;
  // What gamma brightens again was darkened before; a background would only be brightened.
  const paddedApart = padded && variant.gamma !== null;
  const byFrame = animated && needsSingleFrames(variant, box.fit);
  const inPasses = free || byFrame || (content !== null && turns);
  // What is still to be turned by any angle is resampled once more, so it keeps more pixels than the
  // output has; in either case no more than an output may have.
  const shrink = Math.min(
    1,
    (box.scale / opened) * (free ? 2 : 1),
    Math.sqrt(framePixels / (turned.width * turned.height)) / opened,
  );
  const background = backgroundOf(variant, alpha);
  const clear =
    alpha && !variant.flatten && (facts.hasAlpha || (background.alpha < 1 && (padded || free)));
  const filtersApart = needsFiltersApart(variant, facts, clear);
  const profile = profileHandling(facts.colour, variant, byFrame);
  const same = box.width === turned.width && box.height === turned.height;
  return {
    format,
    animated,
    timing: animated ? facts.timing : null,
    ...withBorder(box, box.border),
    density,
    levelled: profile === 'keep' && facts.colour.deep,
    cut: content === null ? null : shrunkArea(content, opened, whole),
    prepared: inPasses ? scaledSize(part, opened * shrink) : null,
    byFrame,
    resize:
      same && !inPasses ? null : { ...box, ...resampling(variant, box, animated && !byFrame) },
    border: variant.extend === null ? null : box.border,
    paddedApart,
    filtersApart,
    background,
    flatten: facts.hasAlpha && (variant.flatten || !alpha),
    profile,
  };
}

/** The size of a picture (or frame) as it is meant to be seen. */
export function upright({ width, height, orientation }: SourceFacts): Size {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

/**
 * Frames are stacked in one tall picture while they are opened, which cannot be turned, so an
 * animation that is not stored upright is treated as a still picture: its first frame, upright.
 */
function moves(facts: SourceFacts): boolean {
  return facts.frames > 1 && kinds[facts.kind].animates && facts.orientation === 1;
}

/** What would mix up the frames where they meet in the stack, or cannot be done to it at all. */
function needsSingleFrames(variant: Variant, fit: Box['fit']): boolean {
  const { flip, rotate, blur, median, sharpen } = variant;
  const smart = fit === 'cover' && isStrategy(variant.position);
  return flip || rotate !== 0 || blur !== null || median !== null || sharpen !== null || smart;
}

/**
 * sharp multiplies the colours with alpha for as long as it scales, blurs and sharpens, which is
 * wrong for what changes colours in between; and it does not when there was no alpha at the
 * beginning, so that blurred edges of the picture would be mixed with the black of clear pixels.
 *
 * @param clear whether there may be transparent pixels
 */
function needsFiltersApart(variant: Variant, { hasAlpha }: SourceFacts, clear: boolean): boolean {
  const { threshold, modulate, blur, sharpen } = variant;
  const mixes = blur !== null || sharpen !== null;
  return threshold !== null || (clear && (modulate !== null || (mixes && !hasAlpha)));
}

const isStrategy = (position: Position): boolean =>
  strategies.some((strategy) => strategy === position);

function chooseFormat(variant: Variant, facts: SourceFacts, moving: boolean): OutputFormat {
  const suits = (format: OutputFormat) =>
    !(variant.negotiated && moving) || encodings[format].animates;
  return variant.formats.find(suits) ?? kinds[facts.kind].own ?? (facts.hasAlpha ? 'png' : 'jpeg');
}

function resampling(variant: Variant, { fit }: Box, stacked: boolean) {
  const { position, kernel } = variant;
  // A strategy chooses what to keep, and there is nothing to choose where nothing is cut off.
  const placed = isStrategy(position) && (fit !== 'cover' || stacked) ? 'center' : position;
  return { position: placed, kernel } as const;
}

/**
 * Outputs are RGB, so the profile of a grey or CMYK source would be wrong for them.
 *
 * @param byFrame true when frames are processed one by one from raw pixels, which have no profile
 */
function profileHandling(
  colour: SourceColour,
  variant: Variant,
  byFrame: boolean,
): ProfileHandling {
  if (!colour.hasProfile || colour.model !== 'rgb' || byFrame) return 'convert';
  if (!variant.stripMetadata) return 'keep';
  return colour.deep ? 'convert-deep' : 'convert';
}
