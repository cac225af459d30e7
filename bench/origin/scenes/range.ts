import { createNoise, mix, smoothstep } from './noise.ts';
import { blend, type Surface } from './surface.ts';
import { createTerrain } from './terrain.ts';

/** Focal length in pixels: a field of view of about 49 degrees. */
const FOCUS = 3000;
const EYE = 1.2;
/** How far the woods rise above the ground, in the terrain's units. */
const TREE = 2.4;

/**
 * A snowy range above the lake's far shore, which is the row `waterline`: walks every column from
 * near to far and draws the ground wherever nearer ground does not hide it.
 */
export function paintRange(surface: Surface, waterline: number, seed: number): void {
  const terrain = createTerrain(seed);
  const noise = createNoise(seed + 1);
  const { width, light } = surface;
  for (let x = 0; x < width; x += 1) {
    const slant = (x - width / 2) / FOCUS;
    let hidden = waterline;
    // The haze has the sky's colour just above the water, so that far ridges blend into the sky.
    const sunward = Math.exp(-(((x / width - 0.3) * 2.4) ** 2));
    const hazeRed = mix(0.26, 1.1, sunward);
    const hazeGreen = mix(0.24, 0.56, sunward);
    const hazeBlue = mix(0.42, 0.5, sunward);
    let pace = 0.5;
    for (
      let z = terrain.near;
      z < terrain.far;
      pace = Math.min(0.35 + z * 0.0008, pace * 1.5), z += pace
    ) {
      const across = slant * z;
      const bare = terrain.height(across, z);
      if (bare < 0 || waterline - ((bare + TREE - EYE) * FOCUS) / z >= hidden) continue;
      const rough = noise.fbm(across * 0.5, z * 0.5 + bare * 0.35, 3);
      const patch = noise.at(across * 0.06, z * 0.06 + 3) * 22;
      const wood = smoothstep(58, 44, bare + rough * 16 + patch);
      const crown = wood * (0.5 + noise.at(across * 1.15, z * 0.8));
      const ground = bare + crown * TREE;
      const rise = waterline - ((ground - EYE) * FOCUS) / z;
      if (rise >= hidden) continue;
      if (hidden - rise > 4 && pace > 0.05) {
        // Too long a step up a steep face shows as a block: go back and take a shorter one.
        z -= pace;
        pace /= 3;
        continue;
      }
      const slopeX = terrain.height(across + 1, z) - terrain.height(across - 1, z);
      const slopeZ = terrain.height(across, z + 1) - terrain.height(across, z - 1);
      const nx = -slopeX / 2 + rough * 0.45;
      const nz = -slopeZ / 2 + rough * 0.3;
      const up = 1 / Math.sqrt(nx * nx + nz * nz + 1);
      const sun = Math.max(0, (0.42 - 0.86 * nx - 0.1 * nz) * up) * terrain.sun(across, z);
      const open = (0.35 + 0.65 * up) * (1 - wood * 0.8 * (1 - crown));
      const snow =
        smoothstep(52, 84, bare + rough * 18 + patch) *
        smoothstep(0.36, 0.5, up + rough * 0.14) *
        (1 - wood);
      const grit = 0.9 + rough * 0.7;
      const red = mix(mix(0.12, 0.035, wood) * grit, 0.84, snow);
      const green = mix(mix(0.1, 0.048, wood) * grit, 0.87, snow);
      const blue = mix(mix(0.105, 0.04, wood) * grit, 0.94, snow);
      const mist = 1.2 * Math.exp(-ground / 9) * smoothstep(250, 700, z);
      const air = 1 - Math.exp(-Math.max(0, z - 180) / 2600 - mist);
      const r = mix(red * (sun * 2.5 + 0.1 * open), hazeRed, air);
      const g = mix(green * (sun * 0.98 + 0.15 * open), hazeGreen, air);
      const b = mix(blue * (sun * 0.6 + 0.36 * open), hazeBlue, air);
      const top = Math.max(0, Math.ceil(rise));
      for (let y = top; y < hidden; y += 1) {
        const at = (y * width + x) * 3;
        light[at] = r;
        light[at + 1] = g;
        light[at + 2] = b;
      }
      if (top > 0 && top < hidden) blend(surface, x, top - 1, [r, g, b], top - rise);
      hidden = Math.min(hidden, top);
    }
  }
}
