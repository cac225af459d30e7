import { createNoise, type Random, smoothstep } from './noise.ts';
import { blend, blendSpan, type Light, type Surface } from './surface.ts';

const ragged = createNoise(77);

/** One spruce as a dark shape: `x` and `base` are its foot, all lengths in pixels. */
export function paintConifer(
  surface: Surface,
  x: number,
  base: number,
  height: number,
  colour: Light,
  random: Random,
): void {
  const slim = 0.15 + random() * 0.06;
  const lean = (random() - 0.5) * 0.03;
  const top = base - height;
  for (let y = Math.max(0, Math.floor(top)); y < Math.min(surface.height, base); y += 1) {
    const half = 0.3 + height * 0.009 * ((y - top) / height);
    const middle = x + lean * (y - base);
    blendSpan(surface, y, middle - half, middle + half, colour);
  }
  const tiers = Math.min(64, Math.max(15, height / 11));
  for (let tier = 0.5; tier < tiers; tier += 0.7 + random() * 0.6) {
    const down = (tier / tiers) ** 0.9 * 0.97;
    for (const side of [-1, 1] as const) {
      const length = slim * height * down ** 0.85 * (0.7 + random() * 0.42) + 0.5;
      const y = top + height * (down + (random() - 0.5) * 0.02);
      const thick = Math.min((height / tiers) * (0.8 + 0.7 * down), length * 0.75);
      paintBough(surface, x + lean * (y - base), y, side * length, thick, colour);
    }
  }
}

/** One bough: it hangs from the trunk, its tip turns up a little, needles fray its lower edge. */
function paintBough(
  surface: Surface,
  x: number,
  y: number,
  length: number,
  thick: number,
  colour: Light,
): void {
  const reach = Math.abs(length);
  const seed = (x * 0.37 + y * 0.61) % 251;
  for (let out = 0; out <= reach; out += 1) {
    const part = out / reach;
    const spine = y + reach * (0.62 * part - 0.3 * part * part);
    const needles = Math.max(0, ragged.fbm(out * 0.13 + seed, seed, 2)) * thick * 1.5;
    const below = (thick * (1 - part) ** 0.7 + needles) * smoothstep(1.02, 0.9, part);
    blendColumn(
      surface,
      Math.round(x + Math.sign(length) * out),
      spine - thick * 0.12,
      spine + below,
      colour,
    );
  }
}

/** Covers the part of column `x` between two fractional rows, with soft ends. */
function blendColumn(surface: Surface, x: number, from: number, to: number, colour: Light): void {
  const last = Math.min(surface.height - 1, Math.floor(to));
  for (let y = Math.max(0, Math.floor(from)); y <= last; y += 1) {
    blend(surface, x, y, colour, Math.min(to, y + 1) - Math.max(from, y));
  }
}
