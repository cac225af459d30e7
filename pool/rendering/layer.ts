import sharp, { type OverlayOptions } from 'sharp';
import type { Size } from '../geometry.ts';
import { type Gravity, plainVariant, type Variant, type Watermark } from '../variant.ts';

/** A watermark rendered at its final size and opacity, as raw RGBA. */
export interface RenderedWatermark extends Size {
  readonly pixels: Buffer;
}

/** The variant of the watermark: `scale` percent of the output's width, at most the output's height. */
export function watermarkVariant(
  { scale, opacity }: Pick<Watermark, 'scale' | 'opacity'>,
  frame: Size,
): Variant {
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

/** The overlay with the watermark at its position, on each frame. */
export async function overlayOf(
  rendered: RenderedWatermark,
  watermark: Watermark,
  frame: Size,
  animated: boolean,
): Promise<OverlayOptions> {
  const { pixels, width, height } = rendered;
  const raw = { width, height, channels: 4 as const };
  const offset = offsetOf(watermark, rendered, frame);
  if (!animated) return { input: pixels, raw, ...offset };
  // Frames are stacked vertically, so a transparent frame with the watermark is tiled.
  const canvas = await sharp(pixels, { raw })
    .extend({
      ...offset,
      right: frame.width - width - offset.left,
      bottom: frame.height - height - offset.top,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    })
    .raw()
    .toBuffer();
  const size = { width: frame.width, height: frame.height, channels: 4 as const };
  return { input: canvas, raw: size, tile: true, gravity: 'northwest' };
}

/** The offset from the top left, with the margin from the position's edges if it fits. */
function offsetOf({ position, margin }: Watermark, size: Size, frame: Size) {
  const [across, down] = sides[position];
  return {
    left: alongAxis(across, margin, frame.width - size.width),
    top: alongAxis(down, margin, frame.height - size.height),
  };
}

type Side = -1 | 0 | 1;

function alongAxis(side: Side, margin: number, room: number): number {
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
