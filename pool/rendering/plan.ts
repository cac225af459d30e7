import { maxFramePixels, maxRows, maxSide } from '../bounds.ts';
import { effectiveBackground, isGrey, type Rgba, rgba } from '../colour.ts';
import { vectorScale } from '../formats/bounds.ts';
import type { ColourSpace } from '../formats/metadata/colour-space.ts';
import type { SourceColour, SourceFacts, Timing } from '../formats/source-format.ts';
import {
  type Box,
  type BoxLimits,
  boundsOfRotated,
  fitBox,
  type Size,
  scaledArea,
  scaledSize,
  scaleWithin,
  windowAround,
  withBorder,
} from '../geometry.ts';
import {
  type Area,
  type Edges,
  type FocalPoint,
  type Kernel,
  type Position,
  strategies,
  type Variant,
} from '../variant.ts';
import { getEncoding, maxOutputPixels, type OutputFormat } from './encode/encodings.ts';
import { chooseFormat, keepsGainMap } from './format.ts';
import { isAnyRequested } from './operations.ts';

/** A transform's parameters, computed from the source and the variant. */
export interface Plan {
  readonly format: OutputFormat;
  /** Whether the output contains all of the source's frames. */
  readonly animated: boolean;
  /** Null for a still image. */
  readonly timing: Timing | null;
  /** Size of an output frame in pixels. */
  readonly width: number;
  readonly height: number;
  /** The scale for opening the source; see `Opening.scale`. */
  readonly scale: number | null;
  /**
   * Whether to reduce 16 bits per channel to 8 first: sharp loses such an image's profile when it
   * is rotated, blurred or normalised in the same pass.
   */
  readonly depthReduced: boolean;
  /**
   * The area of the upright image to extract, in pixels after opening; null for the whole image. A
   * turned image with a gain map gets an area that covers the whole image: see gain-map.ts.
   */
  readonly extract: Area | null;
  /** The area's size after a first pass; null if there is no such pass. */
  readonly prepared: Size | null;
  /** Whether frames are processed individually. */
  readonly byFrame: boolean;
  /** The resize after the rotation, without the border; null when the size is already right. */
  readonly resize: Resize | null;
  /** False to decode more pixels than the scale needs; see `SourceFormat.decodesReduced`. */
  readonly fastShrinkOnLoad: boolean;
  readonly border: Edges | null;
  /** True when a separate pass after the resize adds background. */
  readonly separatePadding: boolean;
  /** True when each filter runs in a separate pass. */
  readonly separateFilters: boolean;
  readonly background: Rgba;
  /** Whether to flatten transparency on the background. */
  readonly flatten: boolean;
  readonly profile: ProfileHandling;
  /**
   * The space that the service converts to sRGB after all passes, at the output's size, although
   * sharp would convert before scaling; null if sharp converts, or if no conversion is needed.
   */
  readonly convertedFrom: ColourSpace | null;
  /**
   * Whether raw pixels with 8 bits per channel contain the whole result: no profile, no metadata,
   * and no greys, because their transparency would be lost.
   */
  readonly plainPixels: boolean;
  /** Colour space of the output, and of `tint` and `background`; null for sRGB. */
  readonly space: ColourSpace | null;
  readonly tint: Rgba | null;
  readonly gainMap: boolean;
  /** Output pixels per CSS pixel of a layer. */
  readonly cssPixel: number;
  readonly isOpaque: boolean;
}

export interface Resize extends Size {
  readonly fit: Box['fit'];
  readonly position: Position;
  readonly kernel: Kernel;
  /** Whether to pad a smaller image instead of scaling it up. */
  readonly withoutEnlargement: boolean;
  /** The part of the resized image to keep; null for all of it. */
  readonly window: Area | null;
}

/**
 * `keep` attaches the source's profile; `convert` converts colours to sRGB. `convert-16-bit` does
 * so for 16-bit colours with a profile, which sharp by default converts to Display P3 and leaves
 * untagged.
 */
export type ProfileHandling = 'keep' | 'convert' | 'convert-16-bit';

/** More pixels for a placeholder would only be averaged. */
const maxPlaceholderSide = 200;

/**
 * @param content the area of the upright image to use, in its pixels; null for the whole image
 * @param sourceMaxPixels of all frames together; limits intermediate images too
 */
export function makePlan(
  facts: SourceFacts,
  content: Area | null,
  variant: Variant,
  sourceMaxPixels: number,
): Plan {
  const whole = upright(facts);
  const part: Size = content ?? whole;
  const animation = variant.animated && facts.page === null && isAnimation(facts);
  const format = chooseFormat(variant, facts, animation);
  const { alpha, animates, profile: hasProfile } = getEncoding(format);
  const animated = animation && animates;
  const frames = animated ? facts.frames : 1;
  const { vector, decodesReduced, decoderScale } = facts.format;
  const framePixels = Math.min(maxFramePixels, sourceMaxPixels / frames);
  const { placeholder, maxWidth } = variant;
  const longest = placeholder === null || placeholder === 'json' ? maxSide : maxPlaceholderSide;
  const limits = {
    width: Math.min(longest, maxWidth ?? longest),
    height: Math.min(longest, maxRows / frames),
    pixels: Math.min(framePixels, maxOutputPixels(format, variant.lossless === true) / frames),
  };
  const rotated = boundsOfRotated(part, variant.rotate);
  // An SVG can be scaled up, but only within the limit for rasterised pixels: a crop or `cover` can
  // rasterise many more pixels than the output has.
  const enlargement = vector
    ? scaleWithin(whole, maxSide, framePixels)
    : variant.enlarge === true
      ? Math.max(1, scaleWithin(rotated, 10 * maxSide, sourceMaxPixels / frames))
      : 1;

  const box = fitBox(rotated, variant, enlargement, limits);
  const freeAngle = variant.rotate % 90 !== 0;
  const rotatesOrFlips = variant.rotate !== 0 || variant.flip || variant.flop;
  const padded = box.fit === 'contain' || variant.extend !== null;
  const separatePadding =
    padded && isAnyRequested(variant, ({ changesBackground }) => changesBackground);
  const byFrame = animated && needsSingleFrames(variant, box.fit);
  const requested = effectiveBackground(variant, alpha);
  const flatten = facts.hasAlpha && (variant.flatten || !alpha);
  // sharp adds no colour to grey pixels, so a first pass converts them to RGB.
  const coloured =
    facts.colour.model === 'grey' &&
    (variant.tint !== null || ((padded || flatten) && !isGrey(requested)));
  const inPasses = freeAngle || byFrame || coloured || (content !== null && rotatesOrFlips);
  const gainMap = keepsGainMap(variant, facts);
  const isScaledFirst = content === null && !inPasses && !gainMap && variant.gamma === null;
  const reducedScale = isScaledFirst ? (decoderScale?.(box.scale, facts) ?? null) : null;
  const scale = vector ? vectorScale(box.scale, whole, framePixels) : reducedScale;
  const opened = scale ?? 1;
  // A rotation by a free angle resamples again, so it gets twice the output's scale, within the
  // limit of output pixels.
  const shrink = Math.min(
    1,
    (box.scale / opened) * (freeAngle ? 2 : 1),
    Math.sqrt(framePixels / (rotated.width * rotated.height)) / opened,
  );
  const mayBeTransparent =
    alpha && !variant.flatten && (facts.hasAlpha || (requested.alpha < 1 && (padded || freeAngle)));
  const transparency = { ofSource: facts.hasAlpha, isPossible: mayBeTransparent };
  const separateFilters = isAnyRequested(variant, (operation) =>
    operation.needsOwnPass?.(transparency),
  );
  const addsBackground = !isNeutral(requested) && (padded || flatten || freeAngle);
  const addsColour =
    addsBackground ||
    (!isNeutral(requested) && variant.opacity !== null) ||
    variant.tint !== null ||
    variant.layers !== null;
  const profile = profileHandling(facts.colour, variant, !byFrame && hasProfile, addsColour);
  const space = profile === 'keep' ? facts.colour.space : null;
  const plainPixels = profile === 'convert' && hasPlainPixels(facts.colour, variant);
  const convertsLate =
    plainPixels && !gainMap && !animated && !addsBackground && !changesColours(variant);
  const sameSize = box.width === rotated.width && box.height === rotated.height;
  return {
    format,
    animated,
    timing: animated ? facts.timing : null,
    ...withBorder(box, box.border),
    scale,
    depthReduced: profile === 'keep' && facts.colour.is16Bit,
    extract:
      content !== null
        ? scaledArea(content, opened, whole)
        : gainMap && (facts.orientation >= 3 || variant.rotate !== 0)
          ? { left: 0, top: 0, ...rotated }
          : null,
    prepared: inPasses ? scaledSize(part, opened * shrink) : null,
    byFrame,
    resize: sameSize && !inPasses ? null : planResize(rotated, box, variant, animated && !byFrame),
    fastShrinkOnLoad: decodesReduced?.(box.scale / opened) ?? true,
    border: variant.extend === null ? null : box.border,
    separatePadding,
    separateFilters,
    background: inSpace(requested, space),
    flatten,
    profile,
    convertedFrom: convertsLate ? facts.colour.space : null,
    plainPixels,
    space,
    tint: variant.tint === null ? null : inSpace(rgba(variant.tint), space),
    gainMap,
    isOpaque: variant.flatten || !alpha,
    cssPixel:
      variant.layers === null ? 1 : computeCssPixel(box, rotated, variant, enlargement, limits),
  };
}

/**
 * Returns how many times larger the output is than the image at `dpr=1`, so that layers keep their
 * share of the image: below the ratio if the source has too few pixels, or if a limit applies.
 *
 * @param limits for the output; a placeholder's limits differ from the image's
 */
function computeCssPixel(
  box: Size,
  natural: Size,
  variant: Variant,
  enlargement: number,
  limits: BoxLimits,
): number {
  const { pixelRatio, width, height, maxWidth, extend } = variant;
  const css = (length: number) => length / pixelRatio;
  const hasBox = width !== null || height !== null;
  const widest = hasBox || maxWidth === null ? maxWidth : css(maxWidth);
  const atRatio1 = fitBox(
    natural,
    {
      ...variant,
      pixelRatio: 1,
      width: width && css(width),
      height: height && css(height),
      extend: extend && {
        top: css(extend.top),
        right: css(extend.right),
        bottom: css(extend.bottom),
        left: css(extend.left),
      },
    },
    enlargement,
    { ...limits, width: Math.min(maxSide, widest ?? maxSide) },
  );
  return Math.max(box.width, box.height) / Math.max(atRatio1.width, atRatio1.height);
}

/** Returns an image's (or frame's) size after applying the EXIF orientation. */
export function upright({ width, height, orientation }: SourceFacts): Size {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

/**
 * sharp opens frames as one tall image, which cannot be rotated, so an animation stored in another
 * orientation is reduced to its first frame.
 */
function isAnimation(facts: SourceFacts): boolean {
  return facts.frames > 1 && facts.format.animates && facts.orientation === 1;
}

/** Returns whether an operation would mix frames of the tall image, or is impossible on it. */
function needsSingleFrames(variant: Variant, fit: Box['fit']): boolean {
  const smart = fit === 'cover' && isStrategy(variant.position);
  return smart || isAnyRequested(variant, (operation) => operation.needsSingleFrames);
}

const isStrategy = (position: Position | FocalPoint): boolean =>
  strategies.some((strategy) => strategy === position);

/** @param natural the size before the resize */
function planResize(natural: Size, box: Box, variant: Variant, stacked: boolean): Resize {
  const { position, kernel } = variant;
  const { width, height, fit, isKept } = box;
  const resize = { width, height, fit, kernel, withoutEnlargement: isKept, window: null };
  if (typeof position === 'object') {
    if (fit !== 'cover') return { ...resize, position: 'center' };
    const { size, window } = windowAround(position, natural, box);
    return { ...resize, ...size, fit: 'fill', position: 'center', window };
  }
  // A strategy affects only a cropped image.
  const effective = isStrategy(position) && (fit !== 'cover' || stacked) ? 'center' : position;
  return { ...resize, position: effective };
}

/** Returns whether a pass converts to grey. */
const becomesGrey = (variant: Variant): boolean =>
  isAnyRequested(variant, ({ makesGrey }) => makesGrey);

const changesColours = (variant: Variant): boolean =>
  isAnyRequested(variant, (operation) => operation.changesColours);

function hasPlainPixels({ model, is16Bit }: SourceColour, variant: Variant): boolean {
  return variant.stripMetadata && model === 'rgb' && !is16Bit && !becomesGrey(variant);
}

/**
 * Outputs are RGB, so they drop a grey or CMYK source's profile. An image that becomes grey loses
 * its profile too, because sRGB contains the same greys: when sharp 0.35 converts other pixels to
 * sRGB at the end of a pass, it attaches the profile from freed memory if the pass copied the
 * pixels, as for a flip or a turn.
 *
 * @param possible false for a format without profiles, and for frames processed as raw pixels
 * @param addsColour true for added colours, which would have to be converted to the profile
 */
function profileHandling(
  colour: SourceColour,
  variant: Variant,
  possible: boolean,
  addsColour: boolean,
): ProfileHandling {
  if (!colour.hasProfile || colour.model !== 'rgb') return 'convert';
  const keeps = (variant.keepProfile || !variant.stripMetadata) && !becomesGrey(variant);
  const isConvertible = colour.isSrgb || colour.space !== null;
  if (keeps && possible && (isConvertible || !addsColour)) return 'keep';
  return colour.is16Bit && !colour.isSrgb ? 'convert-16-bit' : 'convert';
}

/** Returns whether a colour is black, white or invisible, and so the same in every space. */
const isNeutral = ({ r, g, b, alpha }: Rgba) =>
  alpha === 0 || (isGrey({ r, g, b, alpha }) && (r === 0 || r === 255));

function inSpace({ r, g, b, alpha }: Rgba, space: ColourSpace | null): Rgba {
  const converted = space === null ? null : space.fromSrgb([r, g, b]);
  return converted === null
    ? { r, g, b, alpha }
    : { r: converted[0], g: converted[1], b: converted[2], alpha };
}
