/**
 * Returns the first index below `count` that passes the test, or `count`. All later indexes must pass
 * it too: the search takes logarithmic time.
 */
export function firstIndex(count: number, test: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
