/** A stream of numbers in 0..1 (1 excluded) that depends on the seed alone. */
export type Random = () => number;

/** The mulberry32 generator: 32 bits of state, good enough for pictures, the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Smooth noise over the plane; it repeats only every 256 units. */
export interface Noise {
  /** Gradient noise, about -0.7..0.7, zero at whole coordinates. */
  at(x: number, y: number): number;
  /** Fractal sum of `octaves` layers, each twice as fine and half as strong; about -1..1. */
  fbm(x: number, y: number, octaves: number): number;
  /** Ridged multifractal (Musgrave): sharp crests, smooth valleys; about 0..1. */
  ridged(x: number, y: number, octaves: number): number;
}

/** Perlin's gradient noise with a seeded permutation and 256 evenly turned gradients. */
export function createNoise(seed: number): Noise {
  const random = createRandom(seed);
  const order = Array.from({ length: 256 }, (_, index) => index);
  for (let last = 255; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const held = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = held;
  }
  // Twice the permutation, so that a sum of two bytes needs no wrapping.
  const hash = Uint8Array.from({ length: 512 }, (_, index) => order[index & 255] ?? 0);
  const turnX = Float64Array.from({ length: 256 }, (_, index) => Math.cos((index * Math.PI) / 128));
  const turnY = Float64Array.from({ length: 256 }, (_, index) => Math.sin((index * Math.PI) / 128));

  const at = (x: number, y: number): number => {
    const cellX = Math.floor(x);
    const cellY = Math.floor(y);
    const dx = x - cellX;
    const dy = y - cellY;
    const left = hash[cellX & 255] ?? 0;
    const right = hash[(cellX + 1) & 255] ?? 0;
    const row = cellY & 255;
    const next = (cellY + 1) & 255;
    const nw = hash[left + row] ?? 0;
    const ne = hash[right + row] ?? 0;
    const sw = hash[left + next] ?? 0;
    const se = hash[right + next] ?? 0;
    const easeX = dx * dx * dx * (dx * (dx * 6 - 15) + 10);
    const easeY = dy * dy * dy * (dy * (dy * 6 - 15) + 10);
    const a = (turnX[nw] ?? 0) * dx + (turnY[nw] ?? 0) * dy;
    const b = (turnX[ne] ?? 0) * (dx - 1) + (turnY[ne] ?? 0) * dy;
    const c = (turnX[sw] ?? 0) * dx + (turnY[sw] ?? 0) * (dy - 1);
    const d = (turnX[se] ?? 0) * (dx - 1) + (turnY[se] ?? 0) * (dy - 1);
    const top = a + (b - a) * easeX;
    return top + (c + (d - c) * easeX - top) * easeY;
  };

  return {
    at,
    fbm(x, y, octaves) {
      let sum = 0;
      let strength = 0.75;
      let scale = 1;
      for (let octave = 0; octave < octaves; octave += 1) {
        // The offset keeps the zeros of the octaves from meeting at whole coordinates.
        sum += strength * at(x * scale + octave * 17.3, y * scale + octave * 9.7);
        strength *= 0.5;
        scale *= 2;
      }
      return sum;
    },
    ridged(x, y, octaves) {
      let sum = 0;
      let strength = 0.5;
      let scale = 1;
      let weight = 1;
      for (let octave = 0; octave < octaves; octave += 1) {
        const crest = 1 - Math.abs(at(x * scale + octave * 31.1, y * scale + octave * 11.9)) * 1.4;
        const signal = crest * crest * weight;
        sum += signal * strength;
        weight = Math.min(1, Math.max(0, signal * 1.7));
        strength *= 0.5;
        scale *= 2.03;
      }
      return sum;
    },
  };
}

/**
 * A slow function of the pixel, computed once for every `step` x `step` block and read back with
 * bilinear interpolation: for functions that vary too slowly for the error to be visible.
 */
export function sparse(
  width: number,
  height: number,
  step: number,
  value: (x: number, y: number) => number,
): (x: number, y: number) => number {
  const columns = Math.ceil(width / step) + 2;
  const rows = Math.ceil(height / step) + 2;
  const table = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      table[row * columns + column] = value(column * step, row * step);
    }
  }
  return (x, y) => {
    const column = Math.floor(x / step);
    const row = Math.floor(y / step);
    const at = row * columns + column;
    const part = x / step - column;
    const top = mix(table[at] ?? 0, table[at + 1] ?? 0, part);
    const bottom = mix(table[at + columns] ?? 0, table[at + columns + 1] ?? 0, part);
    return mix(top, bottom, y / step - row);
  };
}

/** 0 below `from`, 1 above `to`, an S-curve between; `from` may be the larger one. */
export function smoothstep(from: number, to: number, value: number): number {
  const part = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return part * part * (3 - 2 * part);
}

/** `from` at 0, `to` at 1. */
export function mix(from: number, to: number, part: number): number {
  return from + (to - from) * part;
}
