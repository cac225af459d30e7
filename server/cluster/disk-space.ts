import { statfs } from 'node:fs/promises';
import type { Logger } from '../../contract/log.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';

/** The cache writes far less than the reserve in this time. */
const checkEveryMs = 1_000;
const maxReservedBytes = 512 * 2 ** 20;
const maxReservedInodes = 10_000;
const reservedPart = 0.05;

/** What a disk lacks: the inodes limit its files, whatever their size. */
export type DiskShortage = 'bytes' | 'inodes';

interface Amount {
  readonly total: number;
  readonly free: number;
}

type Disk = Readonly<Record<DiskShortage, Amount>>;

interface DiskSpaceOptions {
  /** The cache folder. */
  readonly folder: string;
  /** Null reserves 5 % of the disk, and 512 MiB at most. */
  readonly reserveBytes: number | null;
  readonly index: Pick<DiskCacheIndex, 'bytes' | 'count' | 'shrinkTo' | 'settled'>;
  readonly log: Logger;
  readonly measure?: (folder: string) => Promise<Disk>;
}

/**
 * Keeps a reserve of bytes and inodes free on the cache's disk: the store shares this disk, and its
 * writes fail if it is full. The cache also shrinks when other programs fill the disk.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  /** What is used up to half of its reserve, even after deleting images; null if nothing is. */
  shortage: DiskShortage | null = null;
  #checking = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  start(): void {
    setInterval(() => void this.check(), checkEveryMs);
  }

  /** Never rejects. */
  async check(): Promise<void> {
    const { folder, index, measure = measured } = this.#options;
    if (this.#checking) return;
    this.#checking = true;
    let disk = await measure(folder).catch(() => null);
    if (disk !== null && index.bytes > 0) {
      const missing = (of: DiskShortage, amount: Amount) =>
        Math.max(0, this.#reserve(of, amount) - amount.free);
      const missingFiles = Math.min(missing('inodes', disk.inodes), index.count);
      const missingBytes = Math.max(
        missing('bytes', disk.bytes),
        // Estimated from the average size; the next check corrects it.
        Math.ceil((index.bytes * missingFiles) / index.count),
      );
      if (missingBytes > 0) {
        index.shrinkTo(index.bytes - missingBytes);
        await index.settled;
        disk = await measure(folder).catch(() => null);
      }
    }
    this.#checking = false;
    if (disk !== null) this.#report(disk);
  }

  #report(disk: Disk): void {
    const { log } = this.#options;
    const isLow = (of: DiskShortage) => disk[of].free < this.#reserve(of, disk[of]) / 2;
    const shortage = (['bytes', 'inodes'] as const).find(isLow) ?? null;
    if (shortage === this.shortage) return;
    this.shortage = shortage;
    const free = { freeBytes: disk.bytes.free, freeInodes: disk.inodes.free };
    if (shortage === null) log.info(free, 'disk space available again');
    else log.warn({ shortage, ...free }, 'disk full; not storing images');
  }

  #reserve(of: DiskShortage, { total }: Amount): number {
    const max = of === 'bytes' ? maxReservedBytes : maxReservedInodes;
    const byDefault = Math.min(max, total * reservedPart);
    return of === 'bytes' ? (this.#options.reserveBytes ?? byDefault) : byDefault;
  }
}

/** File systems without a fixed number of inodes, such as Btrfs, report 0 for it. */
async function measured(folder: string): Promise<Disk> {
  const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
  return {
    bytes: { total: blocks * bsize, free: bavail * bsize },
    inodes: { total: files, free: ffree },
  };
}
