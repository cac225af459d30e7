import { maxFramePixels, maxRows, maxSide } from '../bounds.ts';
import {
  effectiveBackground,
  inSpace,
  isGrey,
  type Rgba,
  rgba,
  transparent,
  white,
} from '../colour.ts';
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
  toPoint,
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
import { isAnyRequested, requestedOperations } from './operations.ts';
import { computeRadii, type Radii } from './rounded.ts';

/** A transform's parameters, computed from the source and the variant. */
export interface Plan extends OutputPlan, GeometryPlan, ColourPlan, PassPlan {}

/** What the output is. */
interface OutputPlan {
  readonly format: OutputFormat;
  /** Whether the output contains all of the source's frames. */
  readonly animated: boolean;
  /** Null for a still image. */
  readonly timing: Timing | null;
  readonly gainMap: boolean;
}

/** The output's size, in pixels. */
interface GeometryPlan extends Size {
  /** Null without padding. */
  readonly border: Edges | null;
  /** The image within the border; null without one. */
  readonly inner: Area | null;
  /** Output pixels per CSS pixel of a layer. */
  readonly cssPixel: number;
  /** Of the output's corners. */
  readonly radii: Radii;
}

interface ColourPlan {
  readonly background: Rgba;
  /** What `extend`, `contain` and `rotate` add. A backdrop replaces it, and shows in free corners. */
  readonly padding: Rgba;
  /** Whether filters come before the padding, because a backdrop replaces it. */
  readonly padsLast: boolean;
  /** Whether to flatten transparency on the background. */
  readonly flatten: boolean;
  readonly isOpaque: boolean;
  readonly tint: Rgba | null;
  readonly profile: ProfileHandling;
  /** Colour space of the output, and of `tint` and `background`; null for sRGB. */
  readonly space: ColourSpace | null;
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
  /**
   * Whether to reduce 16 bits per channel to 8 first: sharp loses such an image's profile when it
   * is rotated, blurred or normalised in the same pass.
   */
  readonly depthReduced: boolean;
}

/** How the passes share the work. */
interface PassPlan {
  /** The scale for opening the source; see `OpenOptions.scale`. */
  readonly scale: number | null;
  /** False to decode more pixels than the scale needs; see `SourceFormat.decodesReduced`. */
  readonly fastShrinkOnLoad: boolean;
  /**
   * The area of the upright image to extract, in pixels after opening; null for the whole image. A
   * turned image with a gain map gets an area that covers the whole image: see gain-map.ts.
   */
  readonly extract: Area | null;
  /** The same area in pixels of the upright source. */
  readonly used: Area;
  /** The area's size after a first pass; null if there is no such pass. */
  readonly prepared: Size | null;
  /** Whether frames are processed individually. */
  readonly byFrame: boolean;
  /** The resize after the rotation, without the border; null when the size is already right. */
  readonly resize: Resize | null;
  /** True when a separate pass after the resize adds the padding. */
  readonly separatePadding: boolean;
  /** True when each filter runs in a separate pass. */
  readonly separateFilters: boolean;
}

export interface Resize extends Size {
  readonly fit: Box['fit'];
  readonly position: Position;
  readonly kernel: Kernel;
  /** The part of the resized image to keep; null for all of it. */
  readonly window: Area | null;
}

/**
 * `keep` attaches the source's profile; `convert` converts colours to sRGB. `convert-16-bit` does
 * so for 16-bit colours with a profile, which sharp by default converts to Display P3 and leaves
 * untagged.
 */
export type ProfileHandling = 'keep' | 'convert' | 'convert-16-bit';

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
  const output = planOutput(facts, variant);
  const shape = findShape(facts, content, variant, output, sourceMaxPixels);
  const byFrame = output.animated && needsSingleFrames(variant, shape.box.fit);
  const inputs = { facts, content, variant, output, shape, byFrame };
  const colour = planColour(inputs);
  return { ...output, ...planGeometry(shape, variant), ...colour, ...planPasses(inputs, colour) };
}

function planOutput(facts: SourceFacts, variant: Variant): OutputPlan {
  const animation = variant.animated && facts.page === null && isAnimation(facts);
  const format = chooseFormat(variant, facts, animation);
  const animated = animation && getEncoding(format).animates === true;
  const timing = animated ? facts.timing : null;
  return { format, animated, timing, gainMap: keepsGainMap(variant, facts) };
}

/** The sizes that the plan derives from. */
interface Shape {
  /** The upright image. */
  readonly whole: Size;
  /** The used area, before and after the rotation. */
  readonly part: Size;
  readonly rotated: Size;
  /** The resized area and its border. */
  readonly box: Box;
  /** How much an image can be enlarged. */
  readonly enlargement: number;
  readonly limits: BoxLimits;
  /** Maximum pixels of one frame, also of an intermediate one. */
  readonly framePixels: number;
}

/** What the parts of a plan derive from. */
interface PlanInputs {
  readonly facts: SourceFacts;
  readonly content: Area | null;
  readonly variant: Variant;
  readonly output: OutputPlan;
  readonly shape: Shape;
  readonly byFrame: boolean;
}

/** More pixels for a placeholder would only be averaged. */
const maxPlaceholderSide = 200;

function findShape(
  facts: SourceFacts,
  content: Area | null,
  variant: Variant,
  { format, animated }: OutputPlan,
  sourceMaxPixels: number,
): Shape {
  const whole = upright(facts);
  const part: Size = content ?? whole;
  const rotated = boundsOfRotated(part, variant.rotate);
  const frames = animated ? facts.frames : 1;
  const framePixels = Math.min(maxFramePixels, sourceMaxPixels / frames);
  const { placeholder, maxWidth } = variant;
  const longest = placeholder === null || placeholder === 'json' ? maxSide : maxPlaceholderSide;
  const limits = {
    width: Math.min(longest, maxWidth ?? longest),
    height: Math.min(longest, maxRows / frames),
    pixels: Math.min(framePixels, maxOutputPixels(format, variant.lossless === true) / frames),
  };
  // An SVG can be scaled up, but only within the limit for rasterised pixels: a crop or `cover` can
  // rasterise many more pixels than the output has.
  const enlargement = facts.format.vector
    ? scaleWithin(whole, maxSide, framePixels)
    : variant.enlarge === true
      ? Math.max(1, scaleWithin(rotated, 10 * maxSide, sourceMaxPixels / frames))
      : 1;
  const box = fitBox(rotated, variant, enlargement, limits);
  return { whole, part, rotated, box, enlargement, limits, framePixels };
}

function planGeometry(shape: Shape, variant: Variant): GeometryPlan {
  const { box } = shape;
  const size = withBorder(box, box.border);
  const cssPixel = computeCssPixel(shape, variant);
  const { width, height, border } = box;
  const padded = { border, inner: { left: border.left, top: border.top, width, height } };
  return {
    ...size,
    ...(isPadded(shape) ? padded : { border: null, inner: null }),
    cssPixel,
    radii: computeRadii(variant.radius, size, cssPixel),
  };
}

const isPadded = ({ box: { border } }: Shape): boolean =>
  Object.values(border).some((edge) => edge > 0);

/** Returns the operations that would see what surrounds the image. */
const filtersOf = (variant: Variant) =>
  (['filter', 'finish'] as const).flatMap((place) => requestedOperations(variant, place));

const hasFreeAngle = ({ rotate }: Variant): boolean => rotate % 90 !== 0;

function planColour({ facts, variant, output, shape, byFrame }: PlanInputs): ColourPlan {
  const { colour, hasAlpha } = facts;
  const { alpha = false, profile: hasProfile = false } = getEncoding(output.format);
  const requested = effectiveBackground(variant, alpha);
  const hasBackdrop = variant.backdrop !== null && isPadded(shape);
  const flatten = hasAlpha && (variant.flatten || !alpha) && !hasBackdrop;
  const addsBackground =
    !isNeutral(requested) && (isPadded(shape) || flatten || hasFreeAngle(variant));
  const addsColour =
    addsBackground ||
    (!isNeutral(requested) && isAnyRequested(variant, ({ showsBackground }) => showsBackground)) ||
    isAnyRequested(variant, (operation) => operation.addsColour) ||
    variant.layers !== null;
  const profile = profileHandling(colour, variant, !byFrame && hasProfile, addsColour);
  const space = profile === 'keep' ? colour.space : null;
  const plainPixels = profile === 'convert' && hasPlainPixels(colour, variant);
  const { animated, gainMap } = output;
  const convertsLate =
    plainPixels && !gainMap && !animated && !addsBackground && !changesColours(variant);
  const background = inSpace(requested, space);
  return {
    background,
    padding: hasBackdrop ? (hasFreeAngle(variant) ? transparent : white) : background,
    padsLast: hasBackdrop && filtersOf(variant).length > 0,
    flatten,
    isOpaque: variant.flatten || !alpha,
    tint: variant.tint === null ? null : inSpace(rgba(variant.tint), space),
    profile,
    space,
    convertedFrom: convertsLate ? colour.space : null,
    plainPixels,
    depthReduced: profile === 'keep' && colour.is16Bit,
  };
}

function planPasses(
  { facts, content, variant, output: { animated, gainMap }, shape, byFrame }: PlanInputs,
  { background, padding, flatten }: ColourPlan,
): PassPlan {
  const { whole, part, rotated, box, framePixels } = shape;
  const { vector, decodesReduced, decoderScale } = facts.format;
  const freeAngle = hasFreeAngle(variant);
  const rotatesOrFlips = variant.rotate !== 0 || variant.flip || variant.flop;
  const padded = isPadded(shape);
  // sharp adds no colour to grey pixels, so a first pass converts them to RGB.
  const coloured =
    facts.colour.model === 'grey' &&
    (variant.tint !== null || ((padded || flatten) && !isGrey(background)));
  const inPasses =
    freeAngle ||
    byFrame ||
    coloured ||
    (content !== null && rotatesOrFlips) ||
    requestedOperations(variant, 'areas').length > 0;
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
  const isCoveredByMap = gainMap && (facts.orientation >= 3 || variant.rotate !== 0);
  const sameSize = box.width === rotated.width && box.height === rotated.height;
  const transparency = {
    ofSource: facts.hasAlpha,
    isPossible: (facts.hasAlpha && !flatten) || (padding.alpha < 1 && (padded || freeAngle)),
  };
  return {
    scale,
    fastShrinkOnLoad: decodesReduced?.(box.scale / opened) ?? true,
    extract:
      content !== null
        ? scaledArea(content, opened, whole)
        : isCoveredByMap
          ? { left: 0, top: 0, ...rotated }
          : null,
    used: content ?? { left: 0, top: 0, ...whole },
    prepared: inPasses ? scaledSize(part, opened * shrink) : null,
    byFrame,
    resize: sameSize && !inPasses ? null : planResize(rotated, box, variant, animated && !byFrame),
    separatePadding:
      padded && isAnyRequested(variant, ({ changesBackground }) => changesBackground),
    separateFilters: isAnyRequested(variant, (operation) => operation.needsOwnPass?.(transparency)),
  };
}

/**
 * Returns how many times larger the output is than the image at `dpr=1`, so that layers keep their
 * share of the image: below the ratio if the source has too few pixels, or if a limit applies. A
 * placeholder's limits differ from the image's.
 */
function computeCssPixel({ box, rotated, enlargement, limits }: Shape, variant: Variant): number {
  const { pixelRatio, width, height, minWidth, minHeight, maxWidth, extend } = variant;
  const css = (length: number) => length / pixelRatio;
  const hasBox = width !== null || height !== null;
  const widest = hasBox || maxWidth === null ? maxWidth : css(maxWidth);
  const atRatio1 = fitBox(
    rotated,
    {
      ...variant,
      pixelRatio: 1,
      width: width && css(width),
      height: height && css(height),
      minWidth: minWidth && css(minWidth),
      minHeight: minHeight && css(minHeight),
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
  const longest = (box: Box) => {
    const { width, height } = withBorder(box, box.border);
    return Math.max(width, height);
  };
  return longest(box) / longest(atRatio1);
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
  const { width, height, fit } = box;
  const resize = { width, height, fit, kernel, window: null };
  const point = typeof position === 'object' ? position : toPoint(position);
  if (typeof position === 'object' || box.isZoomed) {
    if (fit !== 'cover') return { ...resize, position: 'center' };
    const { size, window } = windowAround(point, natural, box);
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
