import sharp, { type OverlayOptions } from 'sharp';
import type { Size } from './geometry.ts';
import { type Gravity, plainVariant, type Variant, type Watermark } from './variant.ts';

/** A watermark that is drawn at its final size and opacity: raw RGBA. */
export interface Mark extends Size {
  readonly pixels: Buffer;
}

/** The watermark's own transform: as wide as its share of the output, but never higher than that. */
export function markVariant({ scale, opacity }: Watermark, frame: Size): Variant {
  return {
    ...plainVariant,
    width: Math.max(1, Math.round((frame.width * scale) / 100)),
    height: frame.height,
    fit: 'inside',
    enlarge: true,
    animated: false,
    opacity: opacity / 100,
    formats: ['png'],
  };
}

/** A mark in its place, on each frame. */
export async function overlay(
  mark: Mark,
  watermark: Watermark,
  frame: Size,
  animated: boolean,
): Promise<OverlayOptions> {
  const { pixels, width, height } = mark;
  const raw = { width, height, channels: 4 as const };
  const place = placeOf(watermark, mark, frame);
  if (!animated) return { input: pixels, raw, ...place };
  // Frames stand below each other, so a whole one with nothing but the mark is repeated downwards.
  const canvas = await sharp(pixels, { raw })
    .extend({
      ...place,
      right: frame.width - width - place.left,
      bottom: frame.height - height - place.top,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    })
    .raw()
    .toBuffer();
  const whole = { width: frame.width, height: frame.height, channels: 4 as const };
  return { input: canvas, raw: whole, tile: true, gravity: 'northwest' };
}

/** `margin` away from the edges that the position names, as far as there is room. */
function placeOf({ position, margin }: Watermark, mark: Size, frame: Size) {
  const [across, down] = sides[position];
  return {
    left: offset(across, margin, frame.width - mark.width),
    top: offset(down, margin, frame.height - mark.height),
  };
}

type Side = -1 | 0 | 1;

function offset(side: Side, margin: number, room: number): number {
  if (side === 0) return Math.round(room / 2);
  const inset = Math.min(margin, room);
  return side < 0 ? inset : room - inset;
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
