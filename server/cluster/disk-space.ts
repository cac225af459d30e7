import { statfs } from 'node:fs/promises';
import type { Logger } from '../../contract/log.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';

/** In this time the cache writes far less than the reserve. */
const checkEveryMs = 1_000;
const mostReservedBytes = 512 * 2 ** 20;
const reservedPart = 0.05;

export interface DiskSpaceOptions {
  /** The cache's folder. */
  readonly folder: string;
  /** Null reserves 5 % of the disk, and 512 MiB at most. */
  readonly reserveBytes: number | null;
  readonly index: Pick<DiskCacheIndex, 'bytes' | 'shrinkTo' | 'settled'>;
  readonly log: Logger;
  /** For tests: how many bytes there are on the disk of a folder, and how many of them are free. */
  readonly measure?: (folder: string) => Promise<{ totalBytes: number; freeBytes: number }>;
}

/**
 * Keeps a reserve free on the disk of the cache: the store is on the same disk, and a full one refuses
 * its writes. The cache shrinks when others use the disk, too.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #timer: NodeJS.Timeout | null = null;
  #scarce = false;
  #checking = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** Less than half of the reserve is free, and deleting images has not changed that. */
  get scarce(): boolean {
    return this.#scarce;
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), checkEveryMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
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
    const scarce = freeBytes < reserveBytes / 2;
    if (scarce === this.#scarce) return;
    this.#scarce = scarce;
    if (scarce) log.warn({ freeBytes, reserveBytes }, 'the disk is full; no image is kept on it');
    else log.info({ freeBytes, reserveBytes }, 'the disk has space again');
  }

  async #measure(): Promise<{ freeBytes: number; reserveBytes: number } | null> {
    const { folder, reserveBytes, measure = measured } = this.#options;
    const space = await measure(folder).catch(() => null);
    if (space === null) return null;
    const { totalBytes, freeBytes } = space;
    const reserve = reserveBytes ?? Math.min(mostReservedBytes, totalBytes * reservedPart);
    return { freeBytes, reserveBytes: reserve };
  }
}

async function measured(folder: string) {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
