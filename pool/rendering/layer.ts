import sharp, { type OverlayOptions } from 'sharp';
import type { Gravity } from '../../contract/image-terms.ts';
import { asBuffer } from '../formats/bytes.ts';
import type { Size } from '../geometry.ts';
import {
  type Layer,
  type LayerPlacement,
  type Length,
  plainVariant,
  type Variant,
} from '../variant.ts';
import type { PixelFrame } from './pixel-effects.ts';

/** The output that a layer is drawn on. */
export interface LayerFrame extends Size {
  /** Output pixels per CSS pixel of a layer. */
  readonly cssPixel: number;
}

/**
 * Returns a length in output pixels.
 *
 * @param whole the output side that percentages refer to
 */
export const toPixels = ({ amount, unit }: Length, whole: number, cssPixel: number): number =>
  unit === 'px' ? amount * cssPixel : (whole * amount) / 100;

const noBox = { width: null, height: null, radius: null };

/** Raw RGBA, not premultiplied, 8 bits per channel. */
export interface RgbaImage extends Size {
  readonly pixels: Buffer;
}

/**
 * Returns the variant of a layer's image: within its box, or `scale` percent of the output's width,
 * and at most the output's size. Rendered words keep their own size, within the output's.
 */
export function layerVariant(layer: Layer, frame: LayerFrame): Variant {
  const isImage = layer.kind === 'image';
  const { width, height, radius } = isImage ? layer : noBox;
  const hasBox = width !== null || height !== null;
  const scale = isImage && !hasBox ? layer.scale : 100;
  const side = (length: Length | null, whole: number) =>
    length === null ? whole : Math.min(whole, toPixels(length, whole, frame.cssPixel));
  return {
    ...plainVariant,
    width: Math.max(1, Math.round(side(width, (frame.width * scale) / 100))),
    height: Math.max(1, Math.round(side(height, frame.height))),
    pixelRatio: frame.cssPixel,
    radius,
    fit: 'inside',
    enlarge: isImage,
    animated: false,
    opacity: layer.opacity / 100,
    rotate: layer.rotate,
    formats: ['png'],
  };
}

/**
 * Returns the overlay that draws a layer at its place, on each frame.
 *
 * @param rendered at its final size and opacity
 */
export async function createOverlay(
  rendered: RgbaImage,
  layer: LayerPlacement,
  frame: LayerFrame,
  animated: boolean,
): Promise<OverlayOptions> {
  const { blend, position } = layer;
  if (layer.tiled) {
    const { pixels, width, height } = await withGaps(rendered, layer, frame);
    const raw = { width, height, channels: 4 as const };
    const tiles = { input: pixels, raw, tile: true, gravity: position };
    return animated
      ? onEachFrame(await drawCanvas(tiles, frame), frame, blend)
      : { ...tiles, blend };
  }
  const { pixels, width, height } = rendered;
  const raw = { width, height, channels: 4 as const };
  const offset = computeOffset(layer, rendered, frame);
  if (!animated) return { input: pixels, raw, ...offset, blend };
  // Not composited on a canvas, which changes the colours of transparent pixels by rounding.
  const canvas = await sharp(pixels, { raw })
    .extend({
      ...offset,
      right: frame.width - width - offset.left,
      bottom: frame.height - height - offset.top,
      background: transparent,
    })
    .raw()
    .toBuffer();
  return onEachFrame(canvas, frame, blend);
}

/** Frames are stacked vertically, so this tiles a transparent frame that contains the layer. */
function onEachFrame(canvas: Buffer, { width, height }: Size, blend: LayerPlacement['blend']) {
  const raw = { width, height, channels: 4 as const };
  return { input: canvas, raw, tile: true, gravity: 'northwest', blend };
}

/** Returns the overlays that replace an image's pixels, even transparent ones, with RGBA pixels. */
export function replacement({ data, width, height }: PixelFrame): readonly OverlayOptions[] {
  const create = { width, height, channels: 4 as const, background: 'black' };
  const raw = { width, height, channels: 4 as const };
  return [
    { input: { create }, blend: 'dest-out' },
    { input: asBuffer(data), raw },
  ];
}

const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** Returns a transparent frame with tiles, as raw RGBA. */
function drawCanvas(overlay: OverlayOptions, { width, height }: Size): Promise<Buffer> {
  const create = { width, height, channels: 4 as const, background: transparent };
  return sharp({ create }).composite([overlay]).raw().toBuffer();
}

/**
 * Returns a layer with transparent gaps to its neighbours on the right and below, no larger than
 * the frame.
 */
async function withGaps(
  { pixels, width, height }: RgbaImage,
  { offsetX, offsetY }: LayerPlacement,
  frame: LayerFrame,
): Promise<RgbaImage> {
  const gap = (length: Length, whole: number, used: number) =>
    Math.max(0, Math.min(wholePixels(length, whole, frame), whole - used));
  const right = gap(offsetX, frame.width, width);
  const bottom = gap(offsetY, frame.height, height);
  if (right === 0 && bottom === 0) return { pixels, width, height };
  const extended = await sharp(pixels, { raw: { width, height, channels: 4 } })
    .extend({ right, bottom, background: transparent })
    .raw()
    .toBuffer();
  return { pixels: extended, width: width + right, height: height + bottom };
}

const wholePixels = (length: Length, whole: number, { cssPixel }: LayerFrame): number =>
  Math.round(toPixels(length, whole, cssPixel));

/**
 * Returns the offset from the top left. Keeps the distances from the position's edges as far as the
 * layer fits.
 */
function computeOffset(
  { position, offsetX, offsetY }: LayerPlacement,
  size: Size,
  frame: LayerFrame,
) {
  const [across, down] = sides[position];
  return {
    left: alongAxis(across, wholePixels(offsetX, frame.width, frame), frame.width - size.width),
    top: alongAxis(down, wholePixels(offsetY, frame.height, frame), frame.height - size.height),
  };
}

type Side = -1 | 0 | 1;

function alongAxis(side: Side, offset: number, room: number): number {
  const start = { [-1]: offset, 0: Math.round(room / 2) + offset, 1: room - offset }[side];
  return Math.max(0, Math.min(start, room));
}

const sides = {
  center: [0, 0],
  north: [0, -1],
  northeast: [1, -1],
  east: [1, 0],
  southeast: [1, 1],
  south: [0, 1],
  southwest: [-1, 1],
  west: [-1, 0],
  northwest: [-1, -1],
} as const satisfies Record<Gravity, readonly [across: Side, down: Side]>;
