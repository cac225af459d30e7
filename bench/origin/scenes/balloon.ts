import { mix, smoothstep } from './noise.ts';
import { blend, blendSpan, type Light, type Surface } from './surface.ts';

export interface Balloon {
  /** Centre of the widest part, and half of its width, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Share of haze in the colour, 0..1. */
  readonly haze: number;
  /** The colours of the gores, one after the other around the balloon. */
  readonly cloth: readonly Light[];
}

const GORES = 20;
const AIR: Light = [1.05, 0.8, 0.62];
const WICKER: Light = [0.16, 0.075, 0.03];
/** Where the envelope ends and the basket hangs, in radii below the centre. */
const MOUTH = 1.42;
const BASKET = 1.78;

/** Half of the envelope's width, in radii, at `v` radii below the widest part. */
function profile(v: number): number {
  if (v < -1 || v > MOUTH) return 0;
  if (v < 0) return Math.sqrt(1 - v * v);
  const part = v / MOUTH;
  return mix(Math.sqrt(Math.max(0, 1 - (v * 0.72) ** 2)), 0.17, part ** 1.7);
}

export function paintBalloon(surface: Surface, balloon: Balloon): void {
  const { x, y, radius, haze, cloth } = balloon;
  const hazy = (colour: Light): Light => [
    mix(colour[0], AIR[0], haze),
    mix(colour[1], AIR[1], haze),
    mix(colour[2], AIR[2], haze),
  ];
  for (let row = Math.floor(-radius) - 1; row <= radius * MOUTH; row += 1) {
    const v = row / radius;
    const half = profile(v) * radius;
    if (half <= 0) continue;
    for (let column = Math.floor(-half) - 1; column <= half + 1; column += 1) {
      const cover = Math.min(1, Math.max(0, half - Math.abs(column) + 0.5));
      if (cover === 0) continue;
      const u = Math.min(1, Math.max(-1, column / half));
      const around = (Math.asin(u) / Math.PI + 0.5) * (GORES / 2) + 0.5;
      const within = around % 1;
      // Between two seams the cloth bulges; a darker band and the crown ring the balloon.
      const bulge = 0.86 + 0.22 * Math.sin(within * Math.PI);
      const seam = 1 - 0.3 * smoothstep(0.07, 0, Math.min(within, 1 - within));
      const band = Math.abs(v - 0.08) < 0.085 || v < -0.93;
      const colour = cloth[(Math.floor(around) + (band ? 1 : 0)) % cloth.length] ?? AIR;
      // The sun is low at the right; light also comes through the cloth from behind.
      const normalX = u;
      const normalY = v < 0 ? v : v * 0.45;
      const depth = Math.sqrt(Math.max(0, 1 - Math.min(1, normalX * normalX + normalY * normalY)));
      const sun = Math.max(0, normalX * 0.8 + normalY * 0.1 + depth * 0.46);
      const sky = 0.42 - 0.16 * normalY;
      const through = 0.22 * smoothstep(-0.2, 1, v) + 0.14 * smoothstep(-0.3, -1, normalX);
      const lit = (0.04 + sun * 1.05 + sky * 0.42 + through) * 0.86 * bulge * seam;
      const sheen = Math.max(0, sun - 0.72) ** 2 * 1.6;
      blend(
        surface,
        x + column,
        y + row,
        hazy([
          colour[0] * lit * (1 + 0.12 * sun) + sheen,
          colour[1] * lit + sheen * 0.85,
          colour[2] * lit * (1.12 - 0.2 * sun) + sheen * 0.6,
        ]),
        cover,
      );
    }
  }
  paintBasket(surface, balloon, hazy);
}

function paintBasket(
  surface: Surface,
  { x, y, radius }: Balloon,
  hazy: (colour: Light) => Light,
): void {
  const top = y + radius * BASKET;
  const half = radius * 0.115;
  const rope = Math.max(0.5, radius * 0.006);
  for (let row = Math.floor(y + radius * MOUTH); row < top; row += 1) {
    const part = (row - y - radius * MOUTH) / (radius * (BASKET - MOUTH));
    for (const side of [-1, -0.35, 0.35, 1]) {
      const middle = x + side * mix(radius * 0.16, half, part);
      blendSpan(surface, row, middle - rope, middle + rope, hazy([0.06, 0.04, 0.04]), 0.85);
    }
  }
  for (let row = 0; row < radius * 0.2; row += 1) {
    const part = row / (radius * 0.2);
    const narrow = half * (1 - 0.1 * part);
    const rim = part < 0.12 || part > 0.93 ? 1.9 : 1;
    for (let column = Math.floor(-narrow); column <= narrow; column += 1) {
      const weave = 0.85 + 0.25 * Math.sin(column * 0.9) * Math.sin(row * 0.8);
      const lit = (0.55 + 0.75 * smoothstep(-narrow, narrow, column)) * weave * rim;
      const cover = Math.min(1, Math.max(0, narrow - Math.abs(column) + 0.5));
      const colour = hazy([WICKER[0] * lit, WICKER[1] * lit, WICKER[2] * lit]);
      blend(surface, x + column, Math.floor(top) + row, colour, cover);
    }
  }
}
