import { backgroundOf, type Rgba } from './background.ts';
import { encodings } from './encode.ts';
import { type Box, boundsOfTurned, fitBox, type Size, withBorder } from './geometry.ts';
import { kinds, type SourceKind } from './kinds.ts';
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
  /** Surfaces of the output's size that drawing needs at one time; 0 but for SVG. */
  readonly surfaces: number;
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
  /** The part of the upright picture, as it was opened, that is used; null for all of it. */
  readonly cut: Area | null;
  /** Size at which that part is rendered before the rest is done; null where one pass does it all. */
  readonly prepared: Size | null;
  /** True when the frames of an animation are drawn one by one. */
  readonly byFrame: boolean;
  /** How the turned part is brought to its size, borders aside; null when it has it already. */
  readonly resize: Resize | null;
  readonly border: Edges | null;
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

/** Bounds of an output: pixels a side, and pixels of a frame. */
export const maxSide = 10_000;
export const maxFramePixels = 40_000_000;

/** What stands for a picture shows no detail: more pixels would only be averaged again. */
const maxPlaceholderSide = 200;

/** Rows of all frames together: libvips stacks them in one picture, and this is its highest. */
const maxRows = 10_000_000;

/** Bytes that the surfaces of one drawing may take together, at 4 a pixel. */
const drawingBytes = 512 * 1024 * 1024;

/** librsvg's unit: at this density a CSS pixel is one pixel. */
const cssDensity = 72;

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
    pixels: vector ? Math.min(framePixels, drawingBytes / 4 / (facts.surfaces + 1)) : framePixels,
  };
  // A drawing has no size at which it is blurred, so it may be scaled up; but only to what may be
  // rasterised, since with `cover` much more than the output is drawn.
  const enlargement = vector
    ? scaleWithin(whole, maxSide, limits.pixels)
    : variant.enlarge
      ? scaleWithin(whole, 10 * maxSide, sourceMaxPixels / frames)
      : 1;

  const turned = boundsOfTurned(part, variant.rotate);
  const box = fitBox(turned, { ...variant, border: variant.extend }, enlargement, limits);
  const density = vector ? densityFor(box.scale) : null;
  const opened = density === null ? 1 : density / cssDensity;

  const free = variant.rotate % 90 !== 0;
  const turns = variant.rotate !== 0 || variant.flip || variant.flop;
  const byFrame = animated && needsSingleFrames(variant, box.fit);
  const inPasses = free || byFrame || (content !== null && turns);
  // What is still to be turned by any angle is resampled once more, so it keeps more pixels than the
  // output has; in either case no more than an output may have.
  const shrink = Math.min(
    1,
    (box.scale / opened) * (free ? 2 : 1),
    Math.sqrt(framePixels / (turned.width * turned.height)) / opened,
  );
  const same = box.width === turned.width && box.height === turned.height;
  return {
    format,
    animated,
    timing: animated ? facts.timing : null,
    ...withBorder(box, box.border),
    density,
    cut: content === null ? null : openedArea(content, opened, whole),
    prepared: inPasses ? scaled(part, opened * shrink) : null,
    byFrame,
    resize:
      same && !inPasses ? null : { ...box, ...resampling(variant, box, animated && !byFrame) },
    border: variant.extend === null ? null : box.border,
    background: backgroundOf(variant, alpha),
    flatten: facts.hasAlpha && (variant.flatten || !alpha),
    profile: profileHandling(facts.colour, variant),
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

function scaleWithin({ width, height }: Size, side: number, pixels: number): number {
  return Math.min(side / width, side / height, Math.sqrt(pixels / (width * height)));
}

function scaled({ width, height }: Size, factor: number): Size {
  const side = (length: number) => Math.max(1, Math.round(length * factor));
  return { width: side(width), height: side(height) };
}

/** An area of the picture in the pixels that it has once it is opened. */
function openedArea(content: Area, opened: number, whole: Size): Area {
  if (opened === 1) return content;
  const place = (start: number, length: number, end: number) => {
    const last = Math.max(1, Math.floor(end * opened));
    const from = Math.min(last - 1, Math.round(start * opened));
    return [from, Math.min(last - from, Math.max(1, Math.round(length * opened)))] as const;
  };
  const [left, width] = place(content.left, content.width, whole.width);
  const [top, height] = place(content.top, content.height, whole.height);
  return { left, top, width, height };
}

function densityFor(scale: number): number {
  // The range that sharp takes. Outside it the picture is scaled when it is opened again.
  return Math.min(Math.max(cssDensity * scale, 1), 100_000);
}

/** Outputs are RGB, so the profile of a grey or CMYK source would be wrong for them. */
function profileHandling(colour: SourceColour, variant: Variant): ProfileHandling {
  if (!colour.hasProfile || colour.model !== 'rgb') return 'convert';
  if (!variant.stripMetadata) return 'keep';
  return colour.deep ? 'convert-deep' : 'convert';
}
