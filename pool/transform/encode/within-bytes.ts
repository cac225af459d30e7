/** Encoding is what takes most of the time of a transform. */
export const mostEncodes = 4;

/** The bytes of photographs grow by about this part for each point of quality. */
const typicalGrowth = 0.02;
/** What is aimed at, so that the estimate's error does not exceed the limit. */
const aim = 0.97;
/** An output that has this part of the limit is not improved. */
const nearEnough = 0.92;

interface Attempt<T> {
  readonly quality: number;
  readonly bytes: number;
  readonly output: T;
}

/**
 * Searches the best quality whose output has at most so many bytes: the logarithm of the bytes is about
 * linear in the quality. If none has, the smallest one is returned, at quality 1.
 *
 * @param quality the highest to try, which is the first
 * @param encode called at most four times
 */
export async function withinBytes<T extends { readonly data: Uint8Array }>(
  quality: number,
  most: number,
  encode: (quality: number) => Promise<T>,
): Promise<T> {
  const attempts: Attempt<T>[] = [];
  let next: number | null = quality;
  while (next !== null) {
    const output = await encode(next);
    attempts.push({ quality: next, bytes: output.data.byteLength, output });
    next = nextQuality(attempts, quality, most);
  }
  const fitting = attempts.filter(({ bytes }) => bytes <= most);
  const best = (all: Attempt<T>[], order: (one: Attempt<T>) => number) =>
    all.reduce((a, b) => (order(b) > order(a) ? b : a)).output;
  return fitting.length > 0
    ? best(fitting, (one) => one.quality)
    : best(attempts, ({ bytes }) => -bytes);
}

/** Null where the search ends. */
function nextQuality<T>(
  attempts: readonly Attempt<T>[],
  highest: number,
  most: number,
): number | null {
  const sorted = [...attempts].sort((a, b) => a.quality - b.quality);
  const above = sorted.find(({ bytes }) => bytes > most);
  const below = sorted.filter(({ bytes }) => bytes <= most).at(-1);
  if (above === undefined || attempts.length === mostEncodes) return null;
  if (below !== undefined) {
    const room = above.quality - below.quality;
    if (room <= 1 || below.bytes >= nearEnough * most) return null;
    const part = Math.log((aim * most) / below.bytes) / Math.log(above.bytes / below.bytes);
    const estimated = Math.floor(below.quality + part * room);
    return Math.min(Math.max(estimated, below.quality + 1), above.quality - 1);
  }
  if (above.quality === 1) return null;
  // The last attempt is the one that fits if any does.
  if (attempts.length === mostEncodes - 1) return 1;
  const last = sorted.at(-1);
  const growth =
    last === undefined || last.quality === above.quality
      ? typicalGrowth
      : Math.log(last.bytes / above.bytes) / (last.quality - above.quality);
  const estimated = above.quality + Math.log((aim * most) / above.bytes) / Math.max(growth, 0.005);
  return Math.min(Math.max(1, Math.floor(estimated)), above.quality - 1, highest);
}
