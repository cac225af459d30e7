/** Pseudo-random numbers of a seed. */
export interface Random {
  /** 0 <= x < 1. */
  fraction(): number;
  /** An integer, 0 <= x < `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** The generator mulberry32 (Tommy Ettinger); 32 bits of state are enough to choose test data. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    pick(choices) {
      const chosen = choices[below(choices.length)];
      if (chosen === undefined) throw new RangeError('nothing to choose from');
      return chosen;
    },
  };
}

/**
 * Draws 0 to `count - 1`, with the weight 1 / r^exponent for rank r (from 1): Zipf's law, which
 * requests for web objects follow with exponents between 0.6 and 0.9 (Breslau et al., "Web caching
 * and Zipf-like distributions", INFOCOM 1999).
 */
export function zipf(count: number, exponent: number, random: Random): () => number {
  const cumulative = new Float64Array(count);
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) {
    sum += rank ** -exponent;
    cumulative[rank - 1] = sum;
  }
  return () => {
    const drawn = random.fraction() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) <= drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
