import type { OverlayOptions } from 'sharp';
import type { Rgba } from '../colour.ts';

/** An output's size in pixels. */
interface Frame {
  readonly width: number;
  readonly height: number;
}

/** Corner radii in CSS pixels. */
export interface Corners {
  readonly topLeft: number;
  readonly topRight: number;
  readonly bottomRight: number;
  readonly bottomLeft: number;
}

/** Radii in output pixels, clockwise from the top left. */
export type Radii = readonly [number, number, number, number];

/**
 * Returns radii in output pixels. As in CSS Backgrounds and Borders 3, 4.5, all radii shrink
 * together until none overlap.
 *
 * @param radius `max` for a circle, or a pill
 */
export function computeRadii(
  radius: Corners | 'max' | null,
  { width, height }: Frame,
  cssPixel: number,
): Radii {
  if (radius === null) return [0, 0, 0, 0];
  const half = Math.min(width, height) / 2;
  if (radius === 'max') return [half, half, half, half];
  const { topLeft, topRight, bottomRight, bottomLeft } = radius;
  const sides = [
    width / (topLeft + topRight),
    height / (topRight + bottomRight),
    width / (bottomRight + bottomLeft),
    height / (bottomLeft + topLeft),
  ];
  const scale = Math.min(cssPixel, ...sides);
  return [topLeft * scale, topRight * scale, bottomRight * scale, bottomLeft * scale];
}

/** Returns how far a point is inside a corner's arc; infinite outside the corner's square. */
function depthInCorner(radius: number, across: number, down: number): number {
  if (across >= radius || down >= radius) return Number.POSITIVE_INFINITY;
  return radius - Math.sqrt((radius - across) ** 2 + (radius - down) ** 2);
}

/** Returns how far a point is inside a rounded frame, in pixels; negative outside. */
function depth(x: number, y: number, { width, height }: Frame, radii: Radii): number {
  const [right, bottom] = [width - x, height - y];
  return Math.min(
    x,
    right,
    y,
    bottom,
    depthInCorner(radii[0], x, y),
    depthInCorner(radii[1], right, y),
    depthInCorner(radii[2], right, bottom),
    depthInCorner(radii[3], x, bottom),
  );
}

/** Returns a pixel's coverage by a shape, from the depth of its centre: exact for straight edges. */
const coverage = (depth: number): number => Math.min(1, Math.max(0, depth + 0.5));

/**
 * Returns an overlay of one colour on each frame: what is outside of the rounded frame, and a line
 * with this width along its inner edge.
 */
export function drawEdge(
  size: Frame,
  radii: Radii,
  { r, g, b, alpha }: Rgba,
  line = 0,
): OverlayOptions {
  const { width, height } = size;
  const input = Buffer.alloc(width * height * 4);
  const colour = r * 2 ** 24 + g * 2 ** 16 + b * 2 ** 8;
  const [thickness, reach] = [Math.ceil(line), Math.ceil(Math.max(line, ...radii))];
  for (let y = 0; y < height; y += 1) {
    const fromEdge = Math.min(y, height - 1 - y);
    // Other pixels than these at each side are neither in a corner nor on the line.
    const drawn = fromEdge < thickness ? width : fromEdge < reach ? reach : thickness;
    const next = (x: number) => (x === drawn ? Math.max(x, width - drawn) : x);
    for (let x = next(0); x < width; x = next(x + 1)) {
      const part = 1 - coverage(depth(x + 0.5, y + 0.5, size, radii) - line);
      input.writeUInt32BE(colour + Math.round(255 * alpha * part), (y * width + x) * 4);
    }
  }
  return { input, raw: { width, height, channels: 4 }, tile: true, gravity: 'northwest' };
}
