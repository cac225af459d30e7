import { createNoise, createRandom, mix, type Noise, smoothstep, sparse } from './noise.ts';
import { paintParasol } from './parasol.ts';
import { createSurface, develop, ramp, type Surface } from './surface.ts';

const WIDTH = 2160;
const HEIGHT = 1440;
/** Pixels to the unit in which the scene is laid out. */
const UNIT = 900;

/** The sea floor seen through the water, by depth 0..1. */
const WATER = ramp([
  [0, [0.62, 0.56, 0.42]],
  [0.05, [0.42, 0.58, 0.48]],
  [0.14, [0.17, 0.52, 0.48]],
  [0.32, [0.05, 0.37, 0.41]],
  [0.6, [0.018, 0.21, 0.31]],
  [1, [0.008, 0.1, 0.2]],
]);

/** A beach from straight above, 2160 x 1440: dry sand, wet sand, surf, shallows, deep water. */
export async function paintCoast(): Promise<Buffer> {
  const surface = createSurface(WIDTH, HEIGHT);
  paintBeach(surface);
  const random = createRandom(90);
  const cloths = [
    [0.85, 0.1, 0.07],
    [0.9, 0.5, 0.05],
    [0.06, 0.36, 0.5],
    [0.86, 0.2, 0.25],
    [0.1, 0.42, 0.28],
  ] as const;
  const places = [
    [300, 1010],
    [470, 1210],
    [740, 1298],
    [155, 1262],
    [108, 815],
  ] as const;
  places.forEach(([x, y], index) => {
    paintParasol(surface, x, y, 42 + random() * 12, cloths[index] ?? [1, 1, 1], random);
  });
  return develop(surface, { seed: 17, exposure: 1.5, grain: 3, vignette: 0.18 })
    .jpeg({ quality: 88 })
    .toBuffer();
}

function paintBeach(surface: Surface): void {
  const { light } = surface;
  const noise = createNoise(51);
  // The coast bends, and every wave bends it more.
  const slow = (x: number, y: number, octaves: number) => noise.fbm(x / UNIT, y / UNIT, octaves);
  const bends = sparse(WIDTH, HEIGHT, 8, (x, y) => slow(x * 0.9 + 4 * UNIT, y * 0.9, 3));
  const sways = sparse(WIDTH, HEIGHT, 8, (x, y) =>
    noise.at((x * 2.2) / UNIT, (y * 2.2) / UNIT + 11),
  );
  const reefs = sparse(WIDTH, HEIGHT, 8, (x, y) => slow(x * 2.3 + 8 * UNIT, y * 2.3, 4));
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const u = x / UNIT;
      const v = y / UNIT;
      const bend = bends(x, y);
      // Distance from the waterline, seawards positive.
      const sea = (u * 0.62 - v * 0.78 + 0.13) * 0.92 + bend * 0.2;
      const fine = sea < 0.6 ? noise.fbm(u * 26, v * 26, 4) : 0;
      const edge = sea < 0.6 ? sea + 0.018 * noise.at(u * 5, v * 5 + 2) + 0.006 * fine : sea;
      let red = 0;
      let green = 0;
      let blue = 0;

      const under = smoothstep(-0.012, 0.01, edge);
      if (under < 1) {
        // Sand: wind ripples and grains, darker and smoother where the last wave has been.
        const sway = 0.02 * sways(x, y);
        const wet = smoothstep(-0.14, -0.07, edge + sway + fine * 0.012);
        const wind = noise.at(u * 9 + v * 24 + bend * 6, v * 9 - u * 6) * (1 - wet);
        const grain = noise.at(u * 390, v * 390) * (1 - 0.6 * wet);
        const film = smoothstep(-0.05, -0.012, edge) * 0.12;
        const bright =
          (1.04 + wind * 0.13 + fine * 0.2 * (1 - 0.7 * wet) + grain * 0.2) * mix(1, 0.5, wet);
        red = 0.86 * bright + film;
        green = 0.63 * bright + film * 1.1;
        blue = 0.385 * bright * mix(1, 1.06, wet) + film * 1.15;
      }
      if (under > 0) {
        const reef = smoothstep(0.1, 0.5, reefs(x, y)) * smoothstep(0.2, 0.5, sea);
        const depth = Math.min(1, Math.max(0, edge * 0.92 + reef * 0.12));
        const from = Math.floor(depth ** 0.85 * 1023) * 3;
        const swell = noise.fbm(u * 6 + v * 3, v * 15 - u * 10, 4);
        const chop = noise.at(u * 74 + swell * 2, v * 105 - u * 60) * smoothstep(0.1, 0.5, sea);
        const web =
          sea < 0.42 ? 1 - Math.abs(noise.at(u * 21 + fine * 0.9, v * 21 + swell)) * 2.2 : 0;
        const caustic = Math.max(0, web) ** 5 * smoothstep(0.42, 0.05, sea) * 0.3;
        const glint = smoothstep(0.42, 0.85, swell * 0.7 + chop) * 0.17;
        const ripple = 1 + swell * mix(0.16, 0.42, depth) + chop * 0.16 + caustic - reef * 0.24;
        red = mix(red, (WATER[from] ?? 0) * ripple + glint, under);
        green = mix(green, (WATER[from + 1] ?? 0) * ripple + glint * 1.15, under);
        blue = mix(blue, (WATER[from + 2] ?? 0) * ripple + glint * 1.2, under);
      }
      if (edge > -0.02 && sea < 0.5) {
        const foam = surf(noise, edge, u, v, fine, sways(x, y));
        red = mix(red, 1.02, foam);
        green = mix(green, 1.06, foam);
        blue = mix(blue, 1.06, foam);
      }
      const at = (y * WIDTH + x) * 3;
      light[at] = red;
      light[at + 1] = green;
      light[at + 2] = blue;
    }
  }
}

/** Lines of breaking waves: where each wave's crest is, how long its lace of foam lasts behind it. */
const WAVES = [
  { from: 0.002, lace: 0.05, strength: 1, broken: 0 },
  { from: 0.1, lace: 0.11, strength: 0.95, broken: 1 },
  { from: 0.27, lace: 0.15, strength: 0.75, broken: 2 },
] as const;

/** How much foam covers the point, 0..1. */
function surf(
  noise: Noise,
  edge: number,
  u: number,
  v: number,
  fine: number,
  sway: number,
): number {
  let foam = 0;
  let holes = -1;
  for (const wave of WAVES) {
    const behind = edge - wave.from - sway * 0.035 * (wave.broken + 0.3) - fine * 0.006;
    if (behind < -0.005 || behind > wave.lace) continue;
    const along = wave.broken * 9;
    const present =
      wave.broken === 0 ? 1 : smoothstep(-0.3, 0.12, noise.at(u * 1.3 + along, v * 1.3 + 20));
    if (present === 0) continue;
    if (holes < 0) {
      const warp = 0.7 * noise.at(u * 8, v * 8 + 5);
      holes =
        Math.abs(noise.at(u * 17 + warp, v * 17 - warp)) * 0.9 +
        Math.abs(noise.at(u * 41 - warp, v * 41)) * 0.55;
    }
    const crest =
      smoothstep(-0.004, 0.002, behind) * smoothstep(0.024, 0.004, behind - fine * 0.014);
    const fading = smoothstep(wave.lace, 0.004, behind) * smoothstep(-0.004, 0.004, behind);
    const threads = smoothstep(0.34 * fading + 0.02, 0.1 * fading, holes + fine * 0.12) * fading;
    foam = Math.max(foam, Math.max(crest * 0.97, threads * 0.88) * wave.strength * present);
  }
  return foam;
}
