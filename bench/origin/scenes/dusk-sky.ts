import { createNoise, createRandom, smoothstep, sparse } from './noise.ts';
import { blend, ramp, type Surface } from './surface.ts';

/** Where the sun's glow is strongest, as parts of the width and of the horizon's height. */
const SUN = { x: 0.29, y: 0.78 };

const FADE = ramp([
  [0, [0.035, 0.05, 0.14]],
  [0.3, [0.09, 0.11, 0.27]],
  [0.55, [0.27, 0.22, 0.38]],
  [0.74, [0.68, 0.38, 0.4]],
  [0.88, [1.15, 0.62, 0.38]],
  [1, [1.5, 0.9, 0.48]],
]);

/** Fills the rows above `horizon` (an even number) with a sky after sunset: afterglow, lit clouds, a few stars. */
export function paintDuskSky(surface: Surface, horizon: number, seed: number): void {
  const { width, light } = surface;
  const noise = createNoise(seed);
  // Clouds lie on a plane overhead: the lower on the picture, the farther and the flatter.
  const masses = sparse(width, horizon, 4, (x, y) => {
    const depth = 1 / (1.16 - y / horizon);
    const u = (x / width - 0.5) * depth * 1.9;
    const v = depth * 2.6;
    const bend = noise.at(u * 0.7, v * 0.7 + 9);
    return noise.fbm(u * 0.8 + bend * 0.5, v * 1.5 + bend * 0.4, 6);
  });
  // The sky is smooth: one sample for every block of 2 x 2 pixels is enough.
  for (let y = 0; y < horizon; y += 2) {
    const up = 1 - y / horizon;
    const from = Math.floor((y / horizon) * 1023) * 3;
    const fade = smoothstep(0.02, 0.16, up) * smoothstep(1.15, 0.5, up);
    for (let x = 0; x < width; x += 2) {
      const dx = (x / width - SUN.x) * 1.15;
      const dy = (y / horizon - SUN.y) * 0.95;
      const apart = dx * dx + dy * dy;
      const glow = Math.exp(-apart * 5.5);
      const core = Math.exp(-apart * 40);
      let red = (FADE[from] ?? 0) * (0.66 + 0.55 * glow) + glow * 0.4 + core * 0.9;
      let green = (FADE[from + 1] ?? 0) * (0.68 + 0.4 * glow) + glow * 0.14 + core * 0.52;
      let blue = (FADE[from + 2] ?? 0) * (0.84 + 0.1 * glow) + glow * 0.02 + core * 0.12;
      const mass = masses(x, y);
      const cover = smoothstep(-0.06, 0.42, mass) * fade * 0.85;
      if (cover > 0) {
        // Thin edges catch the light from below the horizon; thick middles stay in their own shade.
        const edge = (1 - smoothstep(0.15, 0.55, mass)) * (0.3 + 1.3 * glow);
        red += (0.17 + 1.15 * edge + glow * 0.4 - red) * cover;
        green += (0.11 + 0.42 * edge + glow * 0.1 - green) * cover;
        blue += (0.24 + 0.24 * edge - blue) * cover;
      }
      for (let below = 0; below < 2; below += 1) {
        for (let right = 0; right < 2 && x + right < width; right += 1) {
          const at = ((y + below) * width + x + right) * 3;
          light[at] = red;
          light[at + 1] = green;
          light[at + 2] = blue;
        }
      }
    }
  }
  paintStars(surface, horizon, seed);
}

function paintStars(surface: Surface, horizon: number, seed: number): void {
  const random = createRandom(seed + 1);
  for (let star = 0; star < 240; star += 1) {
    const x = Math.floor(random() * surface.width);
    const y = Math.floor(random() ** 1.6 * horizon * 0.5);
    const shine = random() ** 3 * smoothstep(0.5, 0.1, y / horizon);
    for (const [dx, dy, part] of [
      [0, 0, 1],
      [1, 0, 0.45],
      [0, 1, 0.45],
      [1, 1, 0.3],
    ] as const) {
      blend(surface, x + dx, y + dy, [1.3, 1.25, 1.4], shine * part);
    }
  }
}
