import sharp, { type Sharp } from 'sharp';
import { createRandom } from './noise.ts';

/** Linear light, red, green and blue; 1 is where film begins to be bright, there is no upper end. */
export type Light = readonly [red: number, green: number, blue: number];

/** A picture before it is developed: interleaved linear RGB, row by row. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly light: Float32Array;
}

export function createSurface(width: number, height: number): Surface {
  return { width, height, light: new Float32Array(width * height * 3) };
}

/** Blends `colour` over one pixel; `cover` is its opacity, 0..1. Ignores pixels outside the surface. */
export function blend(surface: Surface, x: number, y: number, colour: Light, cover: number): void {
  if (x < 0 || y < 0 || x >= surface.width || y >= surface.height || cover <= 0) return;
  const { light } = surface;
  const at = (y * surface.width + x) * 3;
  const keep = 1 - Math.min(1, cover);
  light[at] = (light[at] ?? 0) * keep + colour[0] * (1 - keep);
  light[at + 1] = (light[at + 1] ?? 0) * keep + colour[1] * (1 - keep);
  light[at + 2] = (light[at + 2] ?? 0) * keep + colour[2] * (1 - keep);
}

/** Covers the part of row `y` between two fractional columns, with soft ends. */
export function blendSpan(
  surface: Surface,
  y: number,
  from: number,
  to: number,
  colour: Light,
  cover = 1,
): void {
  const last = Math.min(surface.width - 1, Math.floor(to));
  for (let x = Math.max(0, Math.floor(from)); x <= last; x += 1) {
    blend(surface, x, y, colour, cover * (Math.min(to, x + 1) - Math.max(from, x)));
  }
}

/** A table of `size` lights through the given stops (position 0..1, ascending), eased linearly. */
export function ramp(
  stops: readonly (readonly [position: number, colour: Light])[],
  size = 1024,
): Float32Array {
  const table = new Float32Array(size * 3);
  for (let index = 0; index < size; index += 1) {
    const position = index / (size - 1);
    const after = stops.findIndex((stop) => stop[0] >= position);
    const high = stops[after === -1 ? stops.length - 1 : after];
    const low = stops[after === -1 ? stops.length - 1 : Math.max(0, after - 1)];
    if (high === undefined || low === undefined) break;
    const part = high[0] === low[0] ? 0 : (position - low[0]) / (high[0] - low[0]);
    for (const channel of [0, 1, 2] as const) {
      table[index * 3 + channel] = low[1][channel] + (high[1][channel] - low[1][channel]) * part;
    }
  }
  return table;
}

export interface Film {
  readonly seed: number;
  readonly exposure: number;
  /** Standard deviation of the grain, in steps of the 8-bit output. */
  readonly grain: number;
  /** How much darker the corners are, 0..1. */
  readonly vignette: number;
}

const CURVE_SIZE = 8192;
const CURVE_END = 6;

/**
 * Turns light into 8-bit sRGB as film does: a soft shoulder for the highlights, a slightly darker
 * rim, grain. The result is an opaque raw sharp image.
 */
export function develop(surface: Surface, film: Film): Sharp {
  const { width, height, light } = surface;
  const curve = new Float32Array(CURVE_SIZE + 1);
  for (let index = 0; index <= CURVE_SIZE; index += 1) {
    const exposed = 1 - Math.exp((-index / CURVE_SIZE) * CURVE_END);
    curve[index] = 255 * exposed ** (1 / 1.95);
  }
  const random = createRandom(film.seed);
  // The sum of two random numbers is close enough to a normal distribution; a table of sums avoids
  // computing three per pixel.
  const grains = Float32Array.from(
    { length: 65536 },
    () => (random() + random() - 1) * film.grain * 2.45,
  );
  const pixels = Buffer.allocUnsafe(width * height * 3);
  const reach = (width * width + height * height) / 4;
  for (let y = 0; y < height; y += 1) {
    const dy = y - height / 2;
    let grain = Math.floor(random() * 65536);
    for (let x = 0; x < width; x += 1) {
      const dx = x - width / 2;
      const far = (dx * dx + dy * dy) / reach;
      const scale = ((film.exposure * (1 - film.vignette * far * far)) / CURVE_END) * CURVE_SIZE;
      const at = (y * width + x) * 3;
      grain = (grain + 1) & 65535;
      const speck = (grains[grain] ?? 0) + 0.5;
      for (let channel = 0; channel < 3; channel += 1) {
        const index = Math.min(CURVE_SIZE, Math.max(0, (light[at + channel] ?? 0) * scale));
        pixels[at + channel] = Math.min(255, Math.max(0, (curve[index | 0] ?? 0) + speck));
      }
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}
