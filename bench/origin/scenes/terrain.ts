import { createNoise, mix, smoothstep } from './noise.ts';

/** A mountain range as a height field, seen from its near edge; one unit is about 15 metres. */
export interface Terrain {
  /** Ground above the lake at the point (x to the right, z away from the eye); below 0 is water. */
  height(x: number, z: number): number;
  /** How much of the sun reaches that point, 0..1. */
  sun(x: number, z: number): number;
  readonly near: number;
  readonly far: number;
}

const CELL = 0.85;
const HALF_WIDTH = 520;
const NEAR = 130;
const FAR = 1060;
/** Half of the visible width at distance 1, and how far outside it ground still casts shadows. */
const VIEW = 0.46;
const MARGIN = 40;
/** The shadow's fall over one cell, and its drift away from the eye: the sun is low, at the left. */
const SHADOW_FALL = 0.34 * CELL;
const SHADOW_DRIFT = 0.3;

export function createTerrain(seed: number): Terrain {
  const columns = Math.ceil((2 * HALF_WIDTH) / CELL);
  const rows = Math.ceil((FAR - NEAR) / CELL);
  const heights = new Float32Array(columns * rows);
  const lit = new Float32Array(columns * rows);
  const noise = createNoise(seed);

  const peak = (x: number, z: number, px: number, pz: number, reach: number): number => {
    const distance = Math.hypot(x - px, (z - pz) * 0.8) / reach;
    return Math.max(0, 1 - distance) ** 1.25;
  };

  for (let row = 0; row < rows; row += 1) {
    const z = NEAR + row * CELL;
    for (let column = 0; column < columns; column += 1) {
      const x = column * CELL - HALF_WIDTH;
      if (Math.abs(x) > z * VIEW + MARGIN) continue;
      // Bent coordinates turn straight noise ridges into spurs and gullies.
      const bentX = x / 250 + 0.22 * noise.at(x / 120 + 3, z / 120);
      const bentZ = z / 250 + 0.22 * noise.at(x / 120, z / 120 + 7);
      const crags = noise.ridged(bentX, bentZ, 8);
      const massif =
        210 * peak(x, z, 105, 760, 330) +
        128 * peak(x, z, -205, 800, 260) +
        95 * peak(x, z, 350, 640, 240) +
        70 * peak(x, z, -420, 690, 250) +
        52 * smoothstep(640, 960, z);
      const valley = Math.abs(x + 22 + 0.03 * z);
      const hills =
        34 * smoothstep(60, 230, valley) * smoothstep(180, 330, z) + 5 * smoothstep(330, 420, z);
      const shore = smoothstep(250, 315, z + 40 * noise.at(x / 60, 4.5) + valley * 0.2);
      const body = massif * (0.2 + 1.12 * crags) + hills * (0.45 + 0.9 * crags);
      heights[row * columns + column] = mix(-3, body + 1.5, shore);
    }
  }

  const shade = new Float32Array(rows);
  const drifted = new Float32Array(rows);
  for (let column = 0; column < columns; column += 1) {
    for (let row = 0; row < rows; row += 1) {
      const ground = heights[row * columns + column] ?? 0;
      const behind = shade[Math.min(rows - 1, row + 1)] ?? 0;
      const edge = mix(shade[row] ?? 0, behind, SHADOW_DRIFT) - SHADOW_FALL;
      lit[row * columns + column] = 1 - smoothstep(0, 5, edge - ground);
      drifted[row] = Math.max(ground, edge);
    }
    shade.set(drifted);
  }

  const sample = (table: Float32Array, x: number, z: number): number => {
    const column = Math.min(columns - 2, Math.max(0, (x + HALF_WIDTH) / CELL));
    const row = Math.min(rows - 2, Math.max(0, (z - NEAR) / CELL));
    const left = Math.floor(column);
    const top = Math.floor(row);
    const at = top * columns + left;
    const near = mix(table[at] ?? 0, table[at + 1] ?? 0, column - left);
    const far = mix(table[at + columns] ?? 0, table[at + columns + 1] ?? 0, column - left);
    return mix(near, far, row - top);
  };

  return {
    height: (x, z) => sample(heights, x, z),
    sun: (x, z) => sample(lit, x, z),
    near: NEAR,
    far: FAR,
  };
}
