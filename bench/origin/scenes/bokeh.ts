import { bladeAt, bladeWidth, paintBlade } from './blade.ts';
import { paintDrop } from './drop.ts';
import { createNoise, createRandom, smoothstep, sparse } from './noise.ts';
import { createSurface, develop, type Light, ramp, type Surface } from './surface.ts';

const WIDTH = 2000;
const HEIGHT = 1333;

/** Dew on a blade of grass before a garden out of focus, 2000 x 1333, as WebP. */
export async function paintBokeh(): Promise<Buffer> {
  const surface = createSurface(WIDTH, HEIGHT);
  paintGarden(surface);
  paintDiscs(surface);
  const garden: Surface = { ...surface, light: surface.light.slice() };
  paintBlade(surface);
  for (const [part, side, radius] of DROPS) {
    const [x, y] = bladeAt(part);
    paintDrop(
      surface,
      garden,
      x,
      y + side * bladeWidth(part) + (side > 0 ? radius * 0.72 : 0),
      radius,
    );
  }
  return develop(surface, { seed: 3, exposure: 1.5, grain: 1.6, vignette: 0.35 })
    .webp({ quality: 90, effort: 2 })
    .toBuffer();
}

const GARDEN = ramp([
  [0, [0.2, 0.25, 0.05]],
  [0.35, [0.055, 0.125, 0.022]],
  [0.7, [0.014, 0.055, 0.022]],
  [1, [0.006, 0.026, 0.018]],
]);

function paintGarden(surface: Surface): void {
  const noise = createNoise(14);
  const { light } = surface;
  const drifts = sparse(
    WIDTH,
    HEIGHT,
    8,
    (x, y) => noise.fbm((x * 2.2) / WIDTH, (y * 2.2) / WIDTH, 2) * 0.3,
  );
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const u = x / WIDTH;
      const v = y / WIDTH;
      const drift = drifts(x, y);
      const far = Math.hypot(u - 0.68, v - 0.12) * 1.05 + drift;
      const from = Math.floor(Math.min(1, Math.max(0, far)) * 1023) * 3;
      const warm = Math.exp(-((far * 3) ** 2)) * 0.5;
      const at = (y * WIDTH + x) * 3;
      light[at] = (GARDEN[from] ?? 0) + warm;
      light[at + 1] = (GARDEN[from + 1] ?? 0) + warm * 0.66;
      light[at + 2] = (GARDEN[from + 2] ?? 0) + warm * 0.12;
    }
  }
}

const GLINTS: readonly Light[] = [
  [0.95, 0.7, 0.22],
  [0.55, 0.75, 0.2],
  [0.9, 0.86, 0.5],
  [0.25, 0.6, 0.3],
  [0.95, 0.5, 0.3],
  [0.35, 0.66, 0.55],
];

/** Points of light as a fast lens shows them: even discs with a brighter rim, squeezed at the sides. */
function paintDiscs(surface: Surface): void {
  const random = createRandom(31);
  const { light } = surface;
  for (let disc = 0; disc < 130; disc += 1) {
    const centreX = random() * WIDTH;
    const centreY = random() ** 1.25 * HEIGHT * 0.96;
    const radius = 24 + random() ** 1.6 * 92;
    const colour = GLINTS[Math.floor(random() * GLINTS.length)] ?? [1, 1, 1];
    const sunward = Math.exp(-(((centreX / WIDTH - 0.66) / 0.42) ** 2) - (centreY / HEIGHT) * 1.1);
    const power = (0.05 + random() ** 2.2 * 0.62) * (0.2 + 1.15 * sunward);
    const aside = (centreX / WIDTH - 0.5) * 2;
    const squeeze = 1 - 0.22 * aside * aside;
    for (
      let y = Math.max(0, Math.floor(centreY - radius));
      y < centreY + radius && y < HEIGHT;
      y += 1
    ) {
      for (
        let x = Math.max(0, Math.floor(centreX - radius));
        x < centreX + radius && x < WIDTH;
        x += 1
      ) {
        const distance = Math.hypot((x - centreX) / squeeze, y - centreY) / radius;
        if (distance >= 1) continue;
        const rim = 0.72 + 0.55 * smoothstep(0.72, 0.96, distance);
        const glow = power * rim * smoothstep(1, 1 - 3.5 / radius, distance);
        const at = (y * WIDTH + x) * 3;
        light[at] = (light[at] ?? 0) + colour[0] * glow;
        light[at + 1] = (light[at + 1] ?? 0) + colour[1] * glow;
        light[at + 2] = (light[at + 2] ?? 0) + colour[2] * glow;
      }
    }
  }
}

/** Drops on the blade: place along it 0..1, side (-1 above, 1 hanging below), radius in pixels. */
const DROPS = [
  [0.44, 0.75, 92],
  [0.6, 0.7, 58],
  [0.3, 0.8, 48],
  [0.735, 0.6, 36],
  [0.52, -0.55, 30],
  [0.375, -0.3, 40],
  [0.2, 0.75, 26],
  [0.67, -0.4, 20],
  [0.835, 0.5, 22],
  [0.265, -0.45, 17],
  [0.565, 0.1, 13],
  [0.475, -0.1, 11],
] as const;
