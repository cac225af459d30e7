import { paintConifer } from './conifer.ts';
import { paintDuskSky } from './dusk-sky.ts';
import { createNoise, createRandom, mix, smoothstep } from './noise.ts';
import { paintRange } from './range.ts';
import { createSurface, develop, type Surface } from './surface.ts';

const WIDTH = 2725;
const HEIGHT = 2225;
const WATERLINE = 1400;

/** A mountain lake after sunset, 2725 x 2225, as a large camera JPEG with EXIF. */
export async function paintLandscape(): Promise<Buffer> {
  const surface = createSurface(WIDTH, HEIGHT);
  paintDuskSky(surface, WATERLINE, 11);
  paintRange(surface, WATERLINE, 42);
  paintShoreTrees(surface);
  paintLake(surface);
  paintForeground(surface);
  return develop(surface, { seed: 5, exposure: 1.45, grain: 3, vignette: 0.32 })
    .jpeg({ quality: 88 })
    .withExif({
      IFD0: { Make: 'Sample', Model: 'Procedural One', Artist: 'The sample origin' },
      IFD2: {
        FocalLength: '35/1',
        ISOSpeedRatings: '100',
        DateTimeOriginal: '2024:09:21 19:24:08',
      },
    })
    .toBuffer();
}

function paintShoreTrees(surface: Surface): void {
  const random = createRandom(21);
  const noise = createNoise(22);
  for (let row = 2; row >= 0; row -= 1) {
    for (let x = -20; x < WIDTH + 20; x += 3 + random() * 8) {
      const side = Math.abs(x / WIDTH - 0.44) * 2;
      const grown = smoothstep(0.1, 0.9, side + noise.at(x / 240, row * 5.5) * 0.75);
      const height = (14 + 84 * grown) * (0.6 + random() * 0.55) * (1 + row * 0.16);
      const haze = 0.012 + 0.03 * row;
      paintConifer(
        surface,
        x,
        WATERLINE + 2,
        height,
        [haze * 1.05, haze * 0.95, haze * 1.25],
        random,
      );
    }
  }
}

/** The scene above, upside down, stretched by ripples that grow towards the eye. */
function paintLake(surface: Surface): void {
  const noise = createNoise(33);
  const { light } = surface;
  for (let y = WATERLINE; y < HEIGHT; y += 1) {
    const below = y - WATERLINE;
    const near = below / (HEIGHT - WATERLINE);
    const depth = 1 / (near + 0.035);
    const strength = 3 + 60 * near;
    const deep = 0.8 - 0.4 * near;
    let wave = 0;
    for (let x = 0; x < WIDTH; x += 1) {
      if (x % 2 === 0) {
        const u = (x / WIDTH - 0.5) * depth * 8;
        const calm = smoothstep(-0.35, 0.4, noise.at(u * 0.12, depth * 0.55));
        wave = noise.fbm(u * 0.9, depth * 9, 3) * (0.25 + 0.9 * calm) * strength;
      }
      const fromY = Math.max(0, Math.min(WATERLINE - 1, WATERLINE - 1 - below * 1.06 + wave));
      const fromX = Math.max(0, Math.min(WIDTH - 1, x + wave * 0.3));
      const row = Math.floor(fromY);
      const from = (row * WIDTH + Math.floor(fromX)) * 3;
      const under = (Math.min(WATERLINE - 1, row + 1) * WIDTH + Math.floor(fromX)) * 3;
      const at = (y * WIDTH + x) * 3;
      const part = fromY - row;
      light[at] = mix(light[from] ?? 0, light[under] ?? 0, part) * deep * 0.92 + 0.006;
      light[at + 1] = mix(light[from + 1] ?? 0, light[under + 1] ?? 0, part) * deep * 0.95 + 0.01;
      light[at + 2] = mix(light[from + 2] ?? 0, light[under + 2] ?? 0, part) * deep + 0.02;
    }
  }
}

function paintForeground(surface: Surface): void {
  const random = createRandom(64);
  const shade = [0.003, 0.0035, 0.007] as const;
  const trees = [
    [2700, 2330, 1500],
    [2490, 2320, 980],
    [2590, 2330, 640],
    [2330, 2310, 560],
    [2200, 2300, 330],
    [20, 2310, 760],
    [150, 2300, 420],
    [265, 2300, 270],
  ] as const;
  for (const [x, base, height] of trees) paintConifer(surface, x, base, height, shade, random);
}
