import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { type Document, encode, parse } from '../bson/value.ts';

/**
 * The file of an embedded store: a sequence of records, each with a BSON document:
 *
 *     magic number, length, unsynced, CRC-32 of these; document; CRC-32 of the document, end byte
 *
 * `unsynced` is the number of bytes directly before the record that were not synced when it was
 * written. The documents are changes (`{ in: namespace }` with `put`, `remove` or `index`), and
 * records about the file: the end of the snapshot that it starts with, and in backups their time.
 */
const magicNumber = 0x3365_4449;
/** The magic number of an earlier format. */
const oldMagicNumber = 0x3265_4449;
export const oldFormatReason = 'it has the format of an earlier version';
const headerBytes = 16;
/** Not 0, so that no written sector of a record is empty. */
const endByte = 0xa5;
const trailerBytes = 5;
/** The smallest unit that a disk writes whole. */
const sectorBytes = 512;
const format = 3;

/** The data file was truncated, overwritten or emptied. */
export class DataFileDamaged extends Error {
  override readonly name = 'DataFileDamaged';
  readonly file: string;

  constructor(file: string, reason: string) {
    super(`the data file ${file} is damaged: ${reason}`);
    this.file = file;
  }
}

export function toRecord(document: object, unsynced = 0): Buffer {
  const body = encode(document);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(magicNumber, 0);
  header.writeUInt32LE(body.length, 4);
  header.writeUInt32LE(unsynced, 8);
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12);
  const trailer = Buffer.alloc(trailerBytes, endByte);
  trailer.writeUInt32LE(crc32(body), 0);
  return Buffer.concat([header, body, trailer]);
}

/** The last record of a snapshot. */
export const snapshotEnd = toRecord({ snapshotEnd: format });
export const backupFilePath = (file: string): string => file.replace(/(\.\w+)?$/, '.backup$1');

export interface LogExtent {
  /** Length of the whole records. Behind it, records can follow whose write was interrupted. */
  readonly bytes: number;
  /** Length of the snapshot that the file starts with. */
  readonly snapshotBytes: number;
  /** When the file was made, if it is a backup. */
  readonly backupTime: Date | null;
}

/**
 * Reads a store's file.
 *
 * An incomplete record behind the last sync is the rest of an interrupted write, of which no client
 * was told: the extent ends before it. A record is incomplete if the file ends within it or, after a
 * power failure, if whole sectors of it are empty. Any other deviation is damage.
 *
 * @param onChange runs for each change
 * @throws {DataFileDamaged}
 */
export function readLog(file: string, onChange: (change: Document) => void = () => {}): LogExtent {
  const bytes = readFileSync(file);
  const damaged = (reason: string) => new DataFileDamaged(file, reason);
  if (bytes.length === 0) throw damaged('it is empty');
  if (bytes.length > headerBytes && bytes.readUInt32LE(0) === oldMagicNumber) {
    throw damaged(oldFormatReason);
  }
  let [at, snapshotBytes] = [0, 0];
  let time: Date | null = null;
  while (at < bytes.length) {
    const body = bodyAt(bytes, at);
    if (body === null) {
      if (isInterrupted(bytes, at)) break;
      throw damaged(`the record at byte ${at} is overwritten`);
    }
    at += headerBytes + body.length + trailerBytes;
    const record = parse(body);
    const { snapshotEnd: found, backupTime } = record;
    if (found !== undefined && found !== format) {
      throw damaged(`its format ${String(found)} is unknown`);
    }
    if (found !== undefined) snapshotBytes = at;
    else if (backupTime instanceof Date) time = backupTime;
    else onChange(record);
  }
  if (snapshotBytes === 0) throw damaged('it contains no complete snapshot');
  return { bytes: at, snapshotBytes, backupTime: time };
}

/** Copies the whole records of a store's file to a new file, even while a process uses the store. */
export function copyLog(file: string, target: string): void {
  copyFileSync(file, target, constants.COPYFILE_EXCL);
  chmodSync(target, 0o600);
  const { bytes } = readLog(target);
  truncateSync(target, bytes);
  const descriptor = openSync(target, 'r+');
  try {
    writeAll(descriptor, toRecord({ backupTime: new Date() }), bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The document of a record; null if the record is not whole. */
function bodyAt(bytes: Buffer, at: number): Buffer | null {
  if (!isHeader(bytes, at)) return null;
  const end = at + headerBytes + bytes.readUInt32LE(at + 4);
  if (end + trailerBytes > bytes.length) return null;
  const body = bytes.subarray(at + headerBytes, end);
  const isWhole = bytes.readUInt32LE(end) === crc32(body) && bytes[end + 4] === endByte;
  return isWhole ? body : null;
}

const isHeader = (bytes: Buffer, at: number): boolean =>
  at + headerBytes <= bytes.length &&
  bytes.readUInt32LE(at) === magicNumber &&
  bytes.readUInt32LE(at + 12) === crc32(bytes.subarray(at, at + 12));

/** Decides between an interrupted write and damage, for a record that is not whole. */
function isInterrupted(bytes: Buffer, at: number): boolean {
  for (let next = at + 1; next <= bytes.length - headerBytes; next += 1) {
    const isSynced = isHeader(bytes, next) && next - bytes.readUInt32LE(next + 8) > at;
    if (isSynced) return false;
  }
  const needed =
    headerBytes + (isHeader(bytes, at) ? bytes.readUInt32LE(at + 4) + trailerBytes : 0);
  if (at + needed > bytes.length) return true;
  for (let from = at; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + sectorBytes - (from % sectorBytes));
    if (bytes.subarray(from, to).every((byte) => byte === 0)) return true;
    from = to;
  }
  return false;
}

/** Syncs a file, or a folder's entries, because a power failure could otherwise lose a new file. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}
