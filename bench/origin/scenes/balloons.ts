import { paintBalloon } from './balloon.ts';
import { paintConifer } from './conifer.ts';
import { createNoise, createRandom, mix, smoothstep, sparse } from './noise.ts';
import { blend, createSurface, develop, type Light, ramp, type Surface } from './surface.ts';

const WIDTH = 1800;
const HEIGHT = 2400;
const HORIZON = 1560;

/**
 * Balloons over misty hills at sunrise, 1800 x 2400 when upright. The JPEG holds it lying on its
 * side, as a phone stores it, with EXIF orientation 6.
 */
export async function paintBalloons(): Promise<Buffer> {
  const surface = createSurface(WIDTH, HEIGHT);
  paintMorning(surface);
  paintHills(surface, 0, 3);
  for (const balloon of BALLOONS.slice(0, 4)) paintBalloon(surface, balloon);
  paintHills(surface, 3, RIDGES);
  for (const balloon of BALLOONS.slice(4)) paintBalloon(surface, balloon);
  const upright = develop(surface, { seed: 44, exposure: 1.3, grain: 2.6, vignette: 0.25 });
  return upright.rotate(270).jpeg({ quality: 86 }).withMetadata({ orientation: 6 }).toBuffer();
}

const ROSE: Light = [0.72, 0.13, 0.14];
const GOLD: Light = [0.95, 0.5, 0.07];
const CREAM: Light = [0.92, 0.82, 0.62];
const TEAL: Light = [0.04, 0.34, 0.38];
const NAVY: Light = [0.05, 0.09, 0.26];

/** From the farthest to the nearest; `haze` is the share of haze in the colour, 0..1. */
const BALLOONS = [
  { x: 395, y: 1290, radius: 46, haze: 0.62, cloth: [ROSE, CREAM] },
  { x: 1180, y: 1410, radius: 34, haze: 0.7, cloth: [TEAL, CREAM] },
  { x: 1420, y: 980, radius: 84, haze: 0.42, cloth: [TEAL, TEAL, GOLD] },
  { x: 250, y: 760, radius: 108, haze: 0.34, cloth: [NAVY, CREAM] },
  { x: 1540, y: 395, radius: 128, haze: 0.26, cloth: [GOLD, ROSE] },
  { x: 850, y: 800, radius: 330, haze: 0.06, cloth: [ROSE, GOLD, CREAM, GOLD] },
] as const;

const MORNING = ramp([
  [0, [0.1, 0.27, 0.47]],
  [0.4, [0.3, 0.46, 0.58]],
  [0.7, [0.82, 0.64, 0.54]],
  [0.88, [1.2, 0.8, 0.5]],
  [1, [1.35, 0.95, 0.6]],
]);

function paintMorning(surface: Surface): void {
  const { light } = surface;
  const noise = createNoise(61);
  const clouds = sparse(WIDTH, HEIGHT, 4, (x, y) => {
    const depth = 1 / (1.12 - Math.min(1, y / HORIZON));
    const u = (x / WIDTH - 0.5) * depth * 1.5;
    return noise.fbm(u + 3 + noise.at(u, depth) * 0.4, depth * 3.1, 6);
  });
  for (let y = 0; y < HEIGHT; y += 1) {
    const down = Math.min(1, y / HORIZON);
    const from = Math.floor(down * 1023) * 3;
    const fade = smoothstep(1, 0.8, down) * smoothstep(-0.5, 0.5, down);
    for (let x = 0; x < WIDTH; x += 1) {
      const apart = ((x / WIDTH - 0.86) / 0.8) ** 2 + ((down - 0.93) / 0.55) ** 2;
      const glow = Math.exp(-apart * 2.2) * 0.55 + Math.exp(-apart * 22) * 1.1;
      const cloud = smoothstep(0.02, 0.5, clouds(x, y)) * fade * 0.7;
      const at = (y * WIDTH + x) * 3;
      light[at] = mix((MORNING[from] ?? 0) + glow, 1.15 + glow * 0.5, cloud);
      light[at + 1] = mix((MORNING[from + 1] ?? 0) + glow * 0.62, 0.8 + glow * 0.3, cloud);
      light[at + 2] = mix((MORNING[from + 2] ?? 0) + glow * 0.2, 0.68, cloud);
    }
  }
}

const RIDGES = 7;
/** The next ridge starts well above this many pixels below a crest; nothing deeper is ever seen. */
const DEEPEST = 560;

/** Ridges `first` to `last` (0 the farthest): each darker, rougher and more wooded than the last. */
function paintHills(surface: Surface, first: number, last: number): void {
  const noise = createNoise(62);
  const random = createRandom(63);
  for (let ridge = first; ridge < last; ridge += 1) {
    const near = ridge / (RIDGES - 1);
    const base = HORIZON - 60 + near ** 1.2 * 640;
    const swell = 190 + 150 * near;
    const crestAt = (x: number, octaves: number) =>
      base - swell * noise.fbm(x / (760 - 140 * near) + ridge * 13.7, ridge * 5.1, octaves);
    // Mist fills the valley between this ridge and the next, thicker the deeper one looks.
    const fog = Float32Array.from(
      { length: DEEPEST + 1 },
      (_, below) => 1 - Math.exp(-((below / (230 + 150 * near)) ** 1.6)),
    );
    for (let x = 0; x < WIDTH; x += 1) {
      const wood = noise.fbm(x / (7 + 6 * near), ridge * 7.3, 3) * (4 + 9 * near);
      paintSlope(surface, x, crestAt(x, 5) - wood, crestAt(x, 2) - 40 + 150 * near, near, fog);
    }
    if (near < 0.6) continue;
    const shade: Light = [mix(0.3, 0.006, near), mix(0.27, 0.016, near), mix(0.3, 0.026, near)];
    const grown = 18 + 150 * ((near - 0.6) / 0.4) ** 2;
    for (let x = -30; x < WIDTH + 30; x += grown * (0.08 + random() * 0.2)) {
      const clump = smoothstep(-0.35, 0.45, noise.at(x / 170, ridge * 3.7));
      const height = grown * (0.35 + 0.75 * clump) * (0.6 + random() * 0.6);
      paintConifer(surface, x, crestAt(x, 5) + grown * 0.16, height, shade, random);
    }
  }
}

/** One column of a hillside from its crest down; the mist of the table `fog` begins at `level`. */
function paintSlope(
  surface: Surface,
  x: number,
  crest: number,
  level: number,
  near: number,
  fog: Float32Array,
): void {
  const sunward = Math.exp(-(((x / WIDTH - 0.9) / 0.6) ** 2)) * (1 - near * 0.9);
  const red = mix(0.62, 0.006, near ** 0.5) + sunward * 0.3;
  const green = mix(0.44, 0.016, near ** 0.55) + sunward * 0.15;
  const blue = mix(0.52, 0.026, near ** 0.65) + sunward * 0.02;
  for (let y = Math.max(0, Math.floor(crest)); y < HEIGHT; y += 1) {
    const below = Math.max(0, Math.floor(y - level));
    if (below > DEEPEST) break;
    const mist = fog[below] ?? 1;
    const colour: Light = [
      mix(red, mix(1.12 + sunward * 0.2, 0.2, near), mist),
      mix(green, mix(0.8, 0.25, near), mist),
      mix(blue, mix(0.66, 0.31, near), mist),
    ];
    blend(surface, x, y, colour, y - crest);
  }
}
