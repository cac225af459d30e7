import { createNoise, mix, smoothstep } from './noise.ts';
import { blend, type Surface } from './surface.ts';

/** The middle of the blade of grass at `part` of its length (0..1), for a picture 2000 wide. */
export function bladeAt(part: number): [x: number, y: number] {
  const x = mix(-80, 2060, part);
  return [x, 1230 - 1120 * part + 560 * part * part * part];
}

/** Half of the blade's width there, in pixels. */
export function bladeWidth(part: number): number {
  return 46 * (1 - part ** 2.4) + 3;
}

export function paintBlade(surface: Surface): void {
  const noise = createNoise(71);
  for (let x = 0; x < surface.width; x += 1) {
    const part = (x + 80) / 2140;
    const middle = bladeAt(part)[1];
    const half = bladeWidth(part);
    // The lens is focused on the drops in the middle; both ends of the blade are soft.
    const soft = 1.2 + 30 * smoothstep(0.32, 0, part) + 22 * smoothstep(0.72, 1, part);
    const crisp = smoothstep(14, 2, soft);
    for (let y = Math.floor(middle - half - soft); y <= middle + half + soft; y += 1) {
      const side = (y - middle) / half;
      const cover = smoothstep(half + soft, half - soft, Math.abs(y - middle));
      const fibre = noise.at(part * 30, side * 9) * 0.22 + noise.at(part * 160, side * 5) * 0.08;
      const vein = Math.exp(-((side * 9) ** 2)) * 0.5;
      const back = 0.5 + 0.75 * smoothstep(0.2, -1, side) - 0.22 * smoothstep(0.3, 1, side);
      const rim = smoothstep(-0.72, -1, side) * 0.9;
      const lit = back * (1 + (fibre + vein) * crisp);
      blend(
        surface,
        x,
        y,
        [0.2 * lit + rim * 0.55, 0.42 * lit + rim * 0.62, 0.055 * lit + rim * 0.2],
        cover,
      );
    }
  }
}
