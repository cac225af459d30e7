import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The data file was truncated, overwritten or emptied. */
export class DataFileDamaged extends Error {
  override readonly name = 'DataFileDamaged';
  readonly file: string;

  constructor(file: string, reason: string) {
    super(`the data file ${file} is damaged: ${reason}`);
    this.file = file;
  }
}

/*
 * The format of lmdb 3.5.6 on 64-bit little-endian machines, from its mdb.c: MDB_page_header, MDB_meta,
 * MDB_db, MDB_node. Offsets and sizes are in bytes.
 */
const metaAt = {
  magic: 24,
  version: 28,
  pageSize: 48,
  trees: 48,
  lastPage: 144,
  transaction: 152,
};
const metaBytes = 168;
const treeAt = { flags: 4, depth: 6, root: 40, bytes: 48 };
const pageAt = { number: 0, flags: 18, lower: 20, upper: 22, pages: 20, header: 24 };
const nodeAt = { low: 0, high: 2, flags: 4, keyBytes: 6, header: 8 };
const magicNumber = 0xbeefc0de;
const branchFlag = 0x01;
const leafFlag = 0x02;
const overflowFlag = 0x04;
const metaFlag = 0x08;
/** Flags a node with its data on separate overflow pages. */
const bigDataFlag = 0x01;
const noRoot = 0xffff_ffff_ffff_ffffn;
const maxDepth = 32;

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
  readonly roots: readonly { page: number; depth: number }[];
}

/**
 * Checks an lmdb file's structure before lmdb maps it. lmdb trusts its file: a missing or
 * overwritten page ends the process with SIGBUS or SIGSEGV, which code cannot handle.
 *
 * Reads every page of both trees (records, free pages) once, without checking record contents.
 * @throws {DataFileDamaged}
 */
export function checkDataFile(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    new Check(file, descriptor).run();
  } finally {
    closeSync(descriptor);
  }
}

class Check {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #bytes: number;
  readonly #seen = new Set<number>();
  #pageBytes = 4096;
  #lastPage = 0;

  constructor(file: string, descriptor: number) {
    this.#file = file;
    this.#descriptor = descriptor;
    this.#bytes = fstatSync(descriptor).size;
  }

  run(): void {
    if (this.#bytes === 0) this.#damaged('it is empty');
    const first = this.#meta(0);
    this.#pageBytes = first.pageBytes;
    const second = this.#meta(first.pageBytes);
    const meta = second.transaction > first.transaction ? second : first;
    this.#lastPage = meta.lastPage;
    for (const { page, depth } of meta.roots) this.#tree(page, depth);
  }

  #meta(at: number): Meta {
    const page = this.#read(at, metaBytes);
    if (
      page.readUInt32LE(metaAt.magic) !== magicNumber ||
      (page.readUInt16LE(pageAt.flags) & metaFlag) === 0
    ) {
      this.#damaged('it has no valid header');
    }
    const pageBytes = page.readUInt32LE(metaAt.pageSize);
    if (pageBytes < 256 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) {
      this.#damaged('its header has no valid page size');
    }
    const roots = [0, 1].flatMap((index) => {
      const tree = metaAt.trees + index * treeAt.bytes;
      const root = page.readBigUInt64LE(tree + treeAt.root);
      const depth = page.readUInt16LE(tree + treeAt.depth);
      return root === noRoot ? [] : [{ page: Number(root), depth }];
    });
    const lastPage = Number(page.readBigUInt64LE(metaAt.lastPage));
    return {
      pageBytes,
      lastPage,
      transaction: page.readBigUInt64LE(metaAt.transaction),
      roots,
    };
  }

  /** @param depth the number of levels from this page down to the leaves, which are level 1 */
  #tree(number: number, depth: number): void {
    if (depth < 1 || depth > maxDepth) this.#damaged(`its tree has a depth of ${depth}`);
    const expected = depth === 1 ? leafFlag : branchFlag;
    const page = this.#page(number, expected);
    // Page offsets count from the end of the page header.
    const lower = pageAt.header + page.readUInt16LE(pageAt.lower);
    const upper = pageAt.header + page.readUInt16LE(pageAt.upper);
    const valid = lower > pageAt.header && lower <= upper && upper <= this.#pageBytes;
    if (!valid) this.#damaged(`the header of page ${number} is not valid`);
    for (let at = pageAt.header; at < lower; at += 2) {
      const node = pageAt.header + page.readUInt16LE(at);
      if (node < upper || node + nodeAt.header > this.#pageBytes) {
        this.#damaged(`page ${number} refers to no record`);
      }
      if (depth > 1) this.#tree(readChild(page, node), depth - 1);
      else this.#record(number, page, node);
    }
  }

  #record(number: number, page: Buffer, node: number): void {
    const length =
      page.readUInt16LE(node + nodeAt.low) + page.readUInt16LE(node + nodeAt.high) * 65_536;
    const data = node + nodeAt.header + page.readUInt16LE(node + nodeAt.keyBytes);
    const big = (page.readUInt16LE(node + nodeAt.flags) & bigDataFlag) !== 0;
    if (data + (big ? 8 : length) > this.#pageBytes) {
      this.#damaged(`a record of page ${number} is longer than the page`);
    }
    if (!big) return;
    const overflow = Number(page.readBigUInt64LE(data));
    const pages = this.#page(overflow, overflowFlag).readUInt32LE(pageAt.pages);
    if (pageAt.header + length > pages * this.#pageBytes || !this.#isInside(overflow + pages - 1)) {
      this.#damaged(`the record at page ${overflow} is not whole`);
    }
  }

  #page(number: number, kind: number): Buffer {
    if (!this.#isInside(number)) this.#damaged(`page ${number} is missing`);
    if (this.#seen.has(number)) this.#damaged(`page ${number} is used twice`);
    this.#seen.add(number);
    const page = this.#read(number * this.#pageBytes, this.#pageBytes);
    const itself = page.readBigUInt64LE(pageAt.number) === BigInt(number);
    const isKind =
      (page.readUInt16LE(pageAt.flags) & (branchFlag | leafFlag | overflowFlag)) === kind;
    if (!itself || !isKind) this.#damaged(`page ${number} is overwritten`);
    return page;
  }

  #isInside(number: number): boolean {
    return number >= 2 && number <= this.#lastPage && (number + 1) * this.#pageBytes <= this.#bytes;
  }

  #read(position: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    if (readSync(this.#descriptor, buffer, 0, length, position) < length) {
      this.#damaged(`it ends at byte ${this.#bytes}`);
    }
    return buffer;
  }

  #damaged(reason: string): never {
    throw new DataFileDamaged(this.#file, reason);
  }
}

function readChild(page: Buffer, node: number): number {
  const high = page.readUInt16LE(node + nodeAt.flags) * 2 ** 32;
  return (
    high + page.readUInt16LE(node + nodeAt.high) * 65_536 + page.readUInt16LE(node + nodeAt.low)
  );
}
