import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { ReplyError } from '../errors.ts';

/** The file grows by at least this much at a time. */
const stepBytes = 1024 * 1024;
/** Per record: its key, and the node and page headers. */
const overheadBytes = 64;
/** The pages from the root to a record (7 levels hold more than 10^9 records), and one for a split. */
const pathPages = 8;
/** For the list of free pages, which every commit writes. */
const freeListPages = 32;

/**
 * Extends the data file before a commit needs the space, by writing zeros after its last page. So a
 * full disk is detected before any change, and lmdb's own writes do not fail: in lmdb 3.5.6 a
 * failed write overruns a 100-byte buffer (`mdb_page_flush` in mdb.c formats `last_error`) and
 * corrupts the heap. Copy-on-write file systems (btrfs, ZFS) do not guarantee allocated space.
 */
export class Preallocation {
  readonly #database: Pick<RootDatabase, 'getStats'>;
  readonly #descriptor: number;
  #fileBytes: number;
  #zeros = Buffer.alloc(0);
  #pageBytes = 0;
  #usedPages = 0;
  #treePages = 0;
  #transaction = 0;
  #pending = { records: 0, pages: 0 };

  constructor(file: string, database: Pick<RootDatabase, 'getStats'>) {
    this.#database = database;
    this.#descriptor = openSync(file, 'r+');
    this.#fileBytes = fstatSync(this.#descriptor).size;
    this.committed();
  }

  /**
   * Allocates space for one more record of the pending transaction.
   * @param recordBytes 0 for a removal, which also needs space for changed pages
   * @throws {ReplyError} 14031 when the disk is full; the record is then not part of the transaction.
   */
  add(recordBytes: number): void {
    const records = this.#pending.records + 1;
    const share = (recordBytes + overheadBytes) / this.#pageBytes;
    // Leaves are at least half full; larger records fill separate pages.
    const pages = this.#pending.pages + (share < 0.5 ? 2 * share : Math.ceil(share));
    // A changed page is copied only once per transaction.
    const copiedPages = Math.min(records * pathPages, this.#treePages + 2 * pages + pathPages);
    const neededPages = this.#usedPages + pages + copiedPages + freeListPages;
    this.#extend(Math.ceil(neededPages) * this.#pageBytes);
    this.#pending = { records, pages };
  }

  /** Runs after each commit, even if it failed. */
  committed(): void {
    const stats = this.#database.getStats() as DatabaseStats;
    this.#pageBytes = stats.pageSize;
    this.#usedPages = stats.lastPageNumber + 1;
    this.#treePages = stats.treeBranchPageCount + stats.treeLeafPageCount;
    this.#transaction = stats.lastTxnId;
    this.#pending = { records: 0, pages: 0 };
  }

  get transaction(): number {
    return this.#transaction;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #extend(wantedBytes: number): void {
    if (wantedBytes <= this.#fileBytes) return;
    try {
      const goal = Math.max(wantedBytes, this.#fileBytes + stepBytes);
      this.#zeros = this.#zeros.length > 0 ? this.#zeros : Buffer.alloc(stepBytes);
      while (this.#fileBytes < goal) {
        const length = Math.min(stepBytes, goal - this.#fileBytes);
        this.#fileBytes += writeSync(this.#descriptor, this.#zeros, 0, length, this.#fileBytes);
      }
    } catch (error) {
      // Less than a whole step can suffice.
      if (wantedBytes <= this.#fileBytes) return;
      const reason = error instanceof Error ? error.message : String(error);
      throw new ReplyError(14031, `there is no space for the write on the disk: ${reason}`);
    }
  }
}

/** lmdb's types declare no fields; these are what its `env.cpp` sets. */
interface DatabaseStats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly lastTxnId: number;
}
