import type { Random } from './random.ts';

/**
 * Draws 0 to `count - 1`, where rank r (from 1) has the weight 1 / r^exponent: Zipf's law, which requests
 * for web objects follow with exponents of 0.6 to 0.9 (Breslau et al., "Web caching and Zipf-like
 * distributions", INFOCOM 1999).
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
