import { statfs } from 'node:fs/promises';
import type { Logger } from '../../contract/log.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';

/** The cache writes far less than the reserve in this time. */
const checkEveryMs = 1_000;
const maxReservedBytes = 512 * 2 ** 20;
const reservedPart = 0.05;

interface DiskSpaceOptions {
  /** The cache folder. */
  readonly folder: string;
  /** Null reserves 5 % of the disk, and 512 MiB at most. */
  readonly reserveBytes: number | null;
  readonly index: Pick<DiskCacheIndex, 'bytes' | 'shrinkTo' | 'settled'>;
  readonly log: Logger;
  /** For tests: returns the size and free space of a folder's disk. */
  readonly measure?: (folder: string) => Promise<{ totalBytes: number; freeBytes: number }>;
}

/**
 * Keeps a reserve free on the cache's disk: the store shares this disk, and its writes fail if it
 * is full. The cache also shrinks when other programs fill the disk.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  /** Whether less than half of the reserve is free, even after deleting images. */
  isLow = false;
  #checking = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  start(): void {
    setInterval(() => void this.check(), checkEveryMs);
  }

  /** Never rejects. */
  async check(): Promise<void> {
    const { index, log } = this.#options;
    if (this.#checking) return;
    this.#checking = true;
    let space = await this.#measure();
    if (space !== null && space.freeBytes < space.reserveBytes && index.bytes > 0) {
      index.shrinkTo(index.bytes + space.freeBytes - space.reserveBytes);
      await index.settled;
      space = await this.#measure();
    }
    this.#checking = false;
    if (space === null) return;
    const { freeBytes, reserveBytes } = space;
    const isLow = freeBytes < reserveBytes / 2;
    if (isLow === this.isLow) return;
    this.isLow = isLow;
    if (isLow) log.warn({ freeBytes, reserveBytes }, 'disk full; not storing images');
    else log.info({ freeBytes, reserveBytes }, 'disk space available again');
  }

  async #measure(): Promise<{ freeBytes: number; reserveBytes: number } | null> {
    const { folder, reserveBytes, measure = measured } = this.#options;
    const space = await measure(folder).catch(() => null);
    if (space === null) return null;
    const { totalBytes, freeBytes } = space;
    const reserve = reserveBytes ?? Math.min(maxReservedBytes, totalBytes * reservedPart);
    return { freeBytes, reserveBytes: reserve };
  }
}

async function measured(folder: string) {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
