import { encodings } from './encode.ts';
import { fitBox } from './geometry.ts';
import { kinds, type SourceKind } from './kinds.ts';
import type { OutputFormat, Variant } from './variant.ts';

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
  readonly hasAlpha: boolean;
  readonly colour: SourceColour;
  /** Surfaces of the output's size that drawing needs at one time; 0 but for SVG. */
  readonly surfaces: number;
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
  /** Size of the output (of each frame), in pixels. */
  readonly width: number;
  readonly height: number;
  /** How the oriented source is brought to that size; null when it has it already. */
  readonly resize: { readonly fit: 'contain' | 'cover' | 'fill' } | null;
  /** Resolution at which a vector source is opened, in dots per inch; null for other kinds. */
  readonly density: number | null;
  /** True when transparency has to be laid on the background. */
  readonly flatten: boolean;
  readonly profile: ProfileHandling;
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

/** Rows of all frames together: libvips stacks them in one picture, and this is its highest. */
const maxRows = 10_000_000;

/** Bytes that the surfaces of one drawing may take together, at 4 a pixel. */
const drawingBytes = 512 * 1024 * 1024;

/** librsvg's unit: at this density a CSS pixel is one pixel. */
const cssDensity = 72;

export function makePlan(facts: SourceFacts, variant: Variant, sourceMaxPixels: number): Plan {
  const turned = facts.orientation >= 5;
  const natural = {
    width: turned ? facts.height : facts.width,
    height: turned ? facts.width : facts.height,
  };
  const moving = moves(facts);
  const format = chooseFormat(variant, facts, moving);
  const animated = moving && encodings[format].animates;
  const frames = animated ? facts.frames : 1;
  const { vector } = kinds[facts.kind];
  const framePixels = Math.min(maxFramePixels, sourceMaxPixels / frames);
  const limits = {
    width: Math.min(maxSide, variant.maxWidth ?? maxSide),
    height: Math.min(maxSide, maxRows / frames),
    pixels: vector ? Math.min(framePixels, drawingBytes / 4 / (facts.surfaces + 1)) : framePixels,
  };
  // A drawing has no size at which it is blurred, so it may be scaled up; but only to what may be
  // rasterised, since with `cover` much more than the output is drawn.
  const enlargement = vector
    ? Math.min(
        maxSide / natural.width,
        maxSide / natural.height,
        Math.sqrt(limits.pixels / (natural.width * natural.height)),
      )
    : 1;
  const box = fitBox(natural, variant, enlargement, limits);
  const same = box.width === natural.width && box.height === natural.height;
  return {
    format,
    animated,
    width: box.width,
    height: box.height,
    resize: same ? null : { fit: box.fit },
    density: vector ? densityFor(box.scale) : null,
    flatten: facts.hasAlpha && !encodings[format].alpha,
    profile: profileHandling(facts.colour, variant),
  };
}

/**
 * Frames are stacked in one tall picture while they are worked on, which cannot be turned, so an
 * animation that is not stored upright is treated as a still picture: its first frame, upright.
 */
function moves(facts: SourceFacts): boolean {
  return facts.frames > 1 && kinds[facts.kind].animates && facts.orientation === 1;
}

function chooseFormat(variant: Variant, facts: SourceFacts, moving: boolean): OutputFormat {
  const suits = (format: OutputFormat) =>
    !(variant.negotiated && moving) || encodings[format].animates;
  return variant.formats.find(suits) ?? kinds[facts.kind].own ?? (facts.hasAlpha ? 'png' : 'jpeg');
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
