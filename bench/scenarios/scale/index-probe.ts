import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';

/**
 * Measures the index of the disk cache alone, in its own process, and evicts a tenth of the entries.
 * Argument: the folder of the cache.
 */
export interface IndexFigures {
  readonly entries: number;
  readonly scanMs: number;
  readonly bytesPerEntry: number;
  /** After the eviction. */
  readonly left: number;
  /** Of one entry, with its file. */
  readonly evictionUs: number;
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
const heap = () => {
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

const index = new DiskCacheIndex(process.argv[2] ?? '', Number.MAX_SAFE_INTEGER, (error) => {
  throw error;
});
const before = heap();
const startedAt = performance.now();
await index.scan();
const scanMs = performance.now() - startedAt;
const bytesPerEntry = (heap() - before) / index.count;
const entries = index.count;
const evictAt = performance.now();
index.shrinkTo(0.9 * index.bytes);
await index.settled;
const evictionUs = (1_000 * (performance.now() - evictAt)) / (entries - index.count);
const left = index.count;
const figures: IndexFigures = { entries, scanMs, bytesPerEntry, left, evictionUs };
process.stdout.write(JSON.stringify(figures));
