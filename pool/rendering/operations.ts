import type { OverlayOptions, Sharp } from 'sharp';
import { type Colour, inSpace, type Rgba, rgba } from '../colour.ts';
import type { ColourSpace } from '../formats/metadata/colour-space.ts';
import { type Backdrop, drawBackdrop } from './backdrop.ts';
import {
  blurArea,
  type Duotone,
  findAreas,
  mapColours,
  type PixelArea,
  type PixelFrame,
  pixelate,
  pixelateArea,
  type SourceArea,
  toDuotone,
  toSepia,
  vignette,
} from './pixel-effects.ts';
import { type Corners, drawEdge, type Radii } from './rounded.ts';

/** Factors of brightness and saturation, rotation of the hue in degrees, lightness to add. */
export interface Modulation {
  readonly brightness: number;
  readonly saturation: number;
  readonly hue: number;
  readonly lightness: number;
}

/** The part of the plan that operations depend on. */
interface PlannedOutput {
  /** Size of an output frame in pixels. */
  readonly width: number;
  readonly height: number;
  readonly background: Rgba;
  /** What surrounds the image, until there is a backdrop. */
  readonly padding: Rgba;
  /** The place of the image in a frame; null without padding. */
  readonly inner: PixelArea | null;
  readonly isOpaque: boolean;
  /** The `tint` colour in the output's colour space; null if not requested. */
  readonly tint: Rgba | null;
  /** Of the frame's corners. */
  readonly radii: Radii;
  /** The area of the upright source that the output shows, in its pixels. */
  readonly used: PixelArea;
  readonly cssPixel: number;
  /** Colour space of the output; null for sRGB. */
  readonly space: Pick<ColourSpace, 'fromSrgb'> | null;
}

/** A line along the edge, and its width in CSS pixels. */
export interface Outline {
  readonly width: number;
  readonly colour: Colour;
}

/**
 * An operation's place in the passes of `steps.ts`: on areas of the source, before the crop, with the resize, after it as a
 * filter, in the image's last pass, on the raw pixels after it, or below or above the layers.
 */
export type Place =
  | 'areas'
  | 'turn'
  | 'resize'
  | 'filter'
  | 'finish'
  | 'pixels'
  | 'below layers'
  | 'above layers';

/** Image properties that decide whether a filter needs a separate pass. */
interface Transparency {
  readonly ofSource: boolean;
  readonly isPossible: boolean;
}

/** An operation on the pixels of an image, which a parameter of the same name requests. */
export interface Operation<T> {
  /** The value that requests no change. */
  readonly plain: T;
  readonly place: Place;
  /** The parameters that request it, if there are others than the one with its name. */
  readonly parameters?: readonly string[];
  /** Adds the operation to a pipeline. Called only for other values than `plain`. */
  readonly apply?: (image: Sharp, value: NonNullable<T>, plan: PlannedOutput) => Sharp;
  /** Changes a frame's raw pixels in place, if sharp has no such operation; see `needsSingleFrames`. */
  readonly change?: (
    frame: PixelFrame,
    value: NonNullable<T>,
    plan: PlannedOutput,
  ) => void | Promise<void>;
  /** Returns what the operation draws above the layers, on each frame; absent elsewhere. */
  readonly overlay?: (value: NonNullable<T>, plan: PlannedOutput) => OverlayOptions;
  /** Returns ms per million output pixels, measured on a photograph; absent if negligible. */
  readonly ms?: (value: NonNullable<T>) => number;
  /**
   * Whether it would mix an animation's frames, which form one tall image, or cannot be applied to
   * it.
   */
  readonly needsSingleFrames?: boolean;
  /**
   * Returns whether each filter needs a separate pass. From scaling to sharpening, sharp
   * premultiplies colours with alpha, which is wrong for colour operations in between. It does not
   * premultiply input that lacks alpha, which would mix blurred edges with the black of transparent
   * pixels.
   */
  readonly needsOwnPass?: (transparency: Transparency) => boolean;
  /**
   * Whether the background must be added in a later pass, because the operation would change it.
   */
  readonly changesBackground?: boolean;
  /** Whether it adds a colour, which must be in the colour space of the output. */
  readonly addsColour?: boolean;
  /** Whether it shows the background. */
  readonly showsBackground?: boolean;
  /** Whether its lengths are CSS pixels, which grow with the pixel ratio. */
  readonly usesCssPixels?: boolean;
  readonly makesGrey?: boolean;
  /**
   * Whether it changes single colours. An operation that mixes neighbours, such as `blur`, can
   * precede a conversion.
   */
  readonly changesColours?: boolean;
}

const operation = <T>(row: Operation<T>): Operation<T> => row;

/**
 * Every operation, by the name of its parameter and variant field. Operations in the same place run
 * in table order, which is sharp's. The variant, the passes, the costs and the plan's decisions
 * derive from this table.
 */
export const operations = {
  /** Mirrors vertically. */
  flip: operation<boolean>({
    plain: false,
    place: 'turn',
    apply: (image) => image.flip(),
    needsSingleFrames: true,
  }),
  /** Mirrors horizontally. */
  flop: operation<boolean>({ plain: false, place: 'turn', apply: (image) => image.flop() }),
  /** Clockwise, in degrees, at least 0 and below 360; the corners get the background. */
  rotate: operation<number>({
    plain: 0,
    place: 'turn',
    apply: (image, degrees, { padding }) =>
      image.rotate(degrees, { background: premultiplied(padding) }),
    ms: (degrees) => (degrees % 90 === 0 ? 0 : 45),
    needsSingleFrames: true,
  }),
  /**
   * 1..3. sharp darkens before the resize and brightens after it, so that the resize averages
   * linear light.
   */
  gamma: operation<number | null>({
    plain: null,
    place: 'resize',
    apply: (image, gamma) => image.gamma(gamma),
    changesBackground: true,
    changesColours: true,
  }),
  /** Omitted before a tint, which uses only the luminance: sharp adds no colour to grey pixels. */
  grayscale: operation<boolean>({
    plain: false,
    place: 'resize',
    apply: (image, _, { tint }) => (tint === null ? image.grayscale() : image),
    makesGrey: true,
  }),
  /** Side of the median filter's square, 1..15. libvips refuses a square larger than the image. */
  median: operation<number | null>({
    plain: null,
    place: 'filter',
    // The window must fit the image, which can get its padding in a later pass.
    apply: (image, side, { width, height, inner }) =>
      image.median(Math.min(side, inner?.width ?? width, inner?.height ?? height)),
    ms: () => 500,
    needsSingleFrames: true,
  }),
  /**
   * 0..255: lighter pixels become white, darker pixels black. Uses a linear function so steep that
   * it yields two values, because sharp's own threshold also changes alpha.
   */
  threshold: operation<number | null>({
    plain: null,
    place: 'filter',
    apply: (image, level) => image.grayscale().linear(255, 255 * (1 - level)),
    needsOwnPass: () => true,
    makesGrey: true,
  }),
  /** Gaussian sigma, 0.3..100. */
  blur: operation<number | null>({
    plain: null,
    place: 'filter',
    apply: (image, sigma) => image.blur({ sigma }),
    ms: (sigma) => 10 + 1.5 * sigma,
    needsSingleFrames: true,
    needsOwnPass: ({ ofSource, isPossible }) => isPossible && !ofSource,
  }),
  modulate: operation<Modulation | null>({
    plain: null,
    place: 'filter',
    parameters: ['modulate', 'brightness', 'saturation', 'hue', 'lightness'],
    apply: (image, modulation) => image.modulate(modulation),
    ms: () => 100,
    needsOwnPass: ({ isPossible }) => isPossible,
    changesColours: true,
  }),
  /**
   * -100..100, as CSS: `contrast(1 + value / 100)`. Uses a separate pass, because sharp's linear
   * function runs after its other filters, and once.
   */
  contrast: operation<number | null>({
    plain: null,
    place: 'filter',
    apply: (image, percent) => image.linear(1 + percent / 100, -1.275 * percent),
    ms: () => 12,
    needsOwnPass: () => true,
    changesColours: true,
  }),
  /** Sigma of the unsharp mask, 0.01..10. */
  sharpen: operation<number | null>({
    plain: null,
    place: 'filter',
    apply: (image, sigma) => image.sharpen({ sigma }),
    ms: (sigma) => 120 + 25 * sigma,
    needsSingleFrames: true,
    needsOwnPass: ({ ofSource, isPossible }) => isPossible && !ofSource,
  }),
  /** Stretches the luminance to the full range. */
  normalize: operation<boolean>({
    plain: false,
    place: 'finish',
    apply: (image) => image.normalize(),
    ms: () => 180,
    changesColours: true,
  }),
  tint: operation<Colour | null>({
    plain: null,
    place: 'finish',
    apply: (image, _, { tint }) => (tint === null ? image : image.tint(tint)),
    addsColour: true,
    changesColours: true,
  }),
  negate: operation<boolean>({
    plain: false,
    place: 'finish',
    apply: (image) => image.negate({ alpha: false }),
    changesColours: true,
  }),
  /** Shows behind an image that has padding; see `Variant.background` for a colour. */
  backdrop: operation<Backdrop | null>({
    plain: null,
    place: 'pixels',
    parameters: ['bg'],
    async change(frame, backdrop, { inner, cssPixel, isOpaque, background }) {
      if (inner === null) return;
      await drawBackdrop(frame, inner, backdrop, cssPixel, isOpaque ? background : null);
    },
    ms: ({ blur }) => (blur === null ? 10 : 55),
    needsSingleFrames: true,
    usesCssPixels: true,
  }),
  /** 0..100 percent of the matrix of CSS `sepia()` (Filter Effects Module Level 1, 8.4). */
  sepia: operation<number | null>({
    plain: null,
    place: 'pixels',
    change: (frame, percent) => mapColours(frame, toSepia(percent / 100)),
    ms: () => 22,
    needsSingleFrames: true,
  }),
  /** The colours for black and white, and between them those of the luma. */
  duotone: operation<Duotone | null>({
    plain: null,
    place: 'pixels',
    change: (frame, colours) => mapColours(frame, toDuotone(colours)),
    ms: () => 22,
    needsSingleFrames: true,
  }),
  /** Side of the squares in output pixels, 1..200, from the top left. */
  pixelate: operation<number | null>({
    plain: null,
    place: 'pixels',
    change: (frame, side) => pixelate(frame, { left: 0, top: 0, ...frame }, side),
    ms: (side) => 25 + 400 / side,
    needsSingleFrames: true,
  }),
  /** 0..100 percent of black in the corners. */
  vignette: operation<number | null>({
    plain: null,
    place: 'pixels',
    change: (frame, percent) => vignette(frame, percent / 100),
    ms: () => 22,
    needsSingleFrames: true,
  }),
  /** Areas of the upright source, in its pixels. Before other operations, so that they follow turns. */
  blurarea: operation<readonly SourceArea[] | null>({
    plain: null,
    place: 'areas',
    change(frame, areas, { used }) {
      for (const area of findAreas(frame, areas, used)) blurArea(frame, area);
    },
    ms: (areas) => 290 * areas.length,
    needsSingleFrames: true,
  }),
  pixelatearea: operation<readonly SourceArea[] | null>({
    plain: null,
    place: 'areas',
    change(frame, areas, { used }) {
      for (const area of findAreas(frame, areas, used)) pixelateArea(frame, area);
    },
    ms: (areas) => 15 * areas.length,
    needsSingleFrames: true,
  }),
  /**
   * 0..1, multiplied with the image's own opacity. An image that cannot be transparent blends with
   * the background.
   */
  opacity: operation<number | null>({
    plain: null,
    place: 'below layers',
    apply(image, factor, { isOpaque, background: { r, g, b } }) {
      if (isOpaque) {
        const rest = [r, g, b].map((channel) => channel * (1 - factor));
        return image.linear([factor, factor, factor], rest);
      }
      const pixel = { r: 0, g: 0, b: 0, alpha: factor };
      const input = { create: { width: 1, height: 1, channels: 4 as const, background: pixel } };
      return image.composite([{ input, tile: true, blend: 'dest-in' }]);
    },
    showsBackground: true,
  }),
  /** Draws a line along the inner edge; `radius` then cuts what is outside of it. */
  outline: operation<Outline | null>({
    plain: null,
    place: 'above layers',
    overlay: ({ width, colour }, plan) =>
      drawEdge(
        plan,
        plan.radii,
        inSpace(rgba(colour), plan.space),
        Math.max(1, Math.round(width * plan.cssPixel)),
      ),
    ms: () => 60,
    addsColour: true,
    usesCssPixels: true,
  }),
  /** Cuts the corners off; an image that cannot be transparent gets the background there. */
  radius: operation<Corners | 'max' | null>({
    plain: null,
    place: 'above layers',
    overlay: (_, plan) => ({
      ...drawEdge(plan, plan.radii, plan.isOpaque ? plan.background : opaque),
      blend: plan.isOpaque ? 'over' : 'dest-out',
    }),
    ms: () => 60,
    showsBackground: true,
    usesCssPixels: true,
  }),
};

const opaque: Rgba = { r: 0, g: 0, b: 0, alpha: 1 };

type Operations = typeof operations;
export type OperationName = keyof Operations;

/** Variant fields that request operations. */
export type OperationValues = {
  readonly [Name in OperationName]: Operations[Name] extends Operation<infer T> ? T : never;
};

/** libvips rotates premultiplied colours, but does not premultiply the background. */
function premultiplied({ r, g, b, alpha }: Rgba): Rgba {
  return { r: Math.round(r * alpha), g: Math.round(g * alpha), b: Math.round(b * alpha), alpha };
}

/** An operation with the value that a variant requests. */
export interface RequestedOperation {
  readonly name: OperationName;
  readonly operation: Operation<unknown>;
  readonly value: NonNullable<unknown>;
}

/** Returns the operations that a variant requests, in table order. @param place null for all */
export function requestedOperations(
  variant: OperationValues,
  place: Place | null = null,
): readonly RequestedOperation[] {
  const requested: RequestedOperation[] = [];
  for (const [name, operation] of rows) {
    const value = variant[name];
    if (value === null || value === operation.plain) continue;
    if (place === null || place === operation.place) requested.push({ name, operation, value });
  }
  return requested;
}

const rows = Object.entries(operations) as unknown as [OperationName, Operation<unknown>][];

export const isAnyRequested = (
  variant: OperationValues,
  has: (operation: Operation<unknown>) => boolean | undefined,
): boolean => requestedOperations(variant).some(({ operation }) => has(operation) === true);
