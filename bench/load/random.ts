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
