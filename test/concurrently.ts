/**
 * Processes all items, several at a time.
 * @returns the results in the items' order
 */
export async function concurrently<Item, Result>(
  atATime: number,
  items: Iterable<Item>,
  process: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const iterator = items[Symbol.iterator]();
  let nextIndex = 0;
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const index = nextIndex++;
      results[index] = await process(next.value);
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}
