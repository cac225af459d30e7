import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Int32 } from 'bson';
import { decode, encode } from '../bson/value.ts';

/**
 * The file of an embedded store: a sequence of groups. Each group was written and synced at once, and
 * contains changes that belong together:
 *
 *     magic number, length of the changes, CRC-32 of both; changes; CRC-32 of the changes, end byte
 *
 * A change is the number of a collection (4 bytes), the number of a record in it (6 bytes), and the
 * record's new BSON document, or a length of 0 (4 bytes) if the record was removed. Collection 0 is
 * the catalogue. Its record 0 is about the file: the format in the first group; the end of the
 * snapshot that the file starts with; and in backups their time.
 */
const magicNumber = 0x3265_4449;
const headerBytes = 12;
/** Not 0, so that no written sector of a group is empty. */
const endByte = 0xa5;
const trailerBytes = 5;
const keyBytes = 10;
/** The smallest unit that a disk writes whole. */
const sectorBytes = 512;
const format = 2;

/** Collection 0: the catalogue, with a record per collection. */
export const catalogNumber = 0;
const fileRecord = 0;

/** A record's new BSON document; null if the record is removed. */
export interface Change {
  readonly collection: number;
  readonly record: number;
  readonly bytes: Uint8Array | null;
}

/** The data file was truncated, overwritten or emptied. */
export class DataFileDamaged extends Error {
  override readonly name = 'DataFileDamaged';
  readonly file: string;

  constructor(file: string, reason: string) {
    super(`the data file ${file} is damaged: ${reason}`);
    this.file = file;
  }
}

const fileChange = (document: Parameters<typeof encode>[0]): Change => ({
  collection: catalogNumber,
  record: fileRecord,
  bytes: encode(document),
});
/** The first group's first change. */
export const formatChange = fileChange({ format: new Int32(format) });
export const snapshotEndChange = fileChange({ snapshotEnd: true });

export function toGroup(changes: readonly Change[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const { collection, record, bytes } of changes) {
    const key = Buffer.alloc(bytes === null ? keyBytes + 4 : keyBytes);
    key.writeUInt32LE(collection, 0);
    key.writeUIntLE(record, 4, 6);
    parts.push(key, ...(bytes === null ? [] : [bytes]));
  }
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(magicNumber, 0);
  header.writeUInt32LE(body.length, 4);
  header.writeUInt32LE(crc32(header.subarray(0, 8)), 8);
  const trailer = Buffer.alloc(trailerBytes, endByte);
  trailer.writeUInt32LE(crc32(body), 0);
  return Buffer.concat([header, body, trailer]);
}

/** The last group of a backup. */
export const backupTimeGroup = (time: Date): Buffer => toGroup([fileChange({ backupTime: time })]);

export interface LogExtent {
  /** Length of the whole groups. Behind it, a group can follow whose write was interrupted. */
  readonly bytes: number;
  /** Length of the snapshot that the file starts with. */
  readonly snapshotBytes: number;
  /** When the file was made, if it is a backup. */
  readonly backupTime: Date | null;
}

/**
 * Reads a store's file, one group at a time.
 *
 * An incomplete group at the end of the file is the rest of an interrupted write, of which no client
 * was told: the extent excludes it. A group is incomplete if the file ends within it or, after a
 * power failure, if whole sectors of it are empty. Any other deviation is damage.
 *
 * @throws {DataFileDamaged}
 */
export function readLog(file: string, onChange?: (change: Change) => void): LogExtent {
  const descriptor = openSync(file, 'r');
  try {
    return readOpenLog(file, descriptor, onChange);
  } finally {
    closeSync(descriptor);
  }
}

function readOpenLog(
  file: string,
  descriptor: number,
  onChange: (change: Change) => void = () => {},
): LogExtent {
  const { size } = fstatSync(descriptor);
  if (size === 0) throw new DataFileDamaged(file, 'it is empty');
  const read: Read = (from, length) => {
    const bytes = Buffer.allocUnsafe(Math.min(length, size - from));
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(descriptor, bytes, at, bytes.length - at, from + at);
      if (count === 0) throw new DataFileDamaged(file, `it ends at byte ${from + at}`);
      at += count;
    }
    return bytes;
  };
  let [at, snapshotBytes] = [0, 0];
  let backupTime: Date | null = null;
  while (at < size) {
    const body = readGroup(read, at, size);
    if (body === 'incomplete') break;
    if (body === 'damaged') {
      throw new DataFileDamaged(file, `the group of changes at byte ${at} is overwritten`);
    }
    at += headerBytes + body.length + trailerBytes;
    for (const change of readChanges(body)) {
      if (change.collection !== catalogNumber || change.record !== fileRecord) onChange(change);
      else {
        const about = decode(change.bytes ?? new Uint8Array());
        const found = about['format'];
        if (found !== undefined && String(found) !== String(format)) {
          throw new DataFileDamaged(file, `its format ${String(found)} is unknown`);
        }
        if (about['snapshotEnd'] === true) snapshotBytes = at;
        if (about['backupTime'] instanceof Date) backupTime = about['backupTime'];
      }
    }
  }
  if (snapshotBytes === 0) throw new DataFileDamaged(file, 'it contains no complete snapshot');
  return { bytes: at, snapshotBytes, backupTime };
}

/** Copies the whole groups of a store's file to a new file, even while a process uses the store. */
export function copyLog(file: string, target: string): void {
  const source = openSync(file, 'r');
  try {
    const { bytes } = readOpenLog(file, source);
    const descriptor = openSync(target, 'wx', 0o600);
    try {
      copyRange(source, 0, bytes, descriptor, 0);
      writeAll(descriptor, backupTimeGroup(new Date()), bytes);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } finally {
    closeSync(source);
  }
}

/** Returns fewer bytes at the end of the file. */
type Read = (from: number, length: number) => Buffer;

function readGroup(read: Read, at: number, size: number): Buffer | 'incomplete' | 'damaged' {
  const header = read(at, headerBytes);
  if (header.length < headerBytes) return 'incomplete';
  if (!isHeader(header, 0)) return judge(read, at, size);
  const bodyBytes = header.readUInt32LE(4);
  const rest = read(at + headerBytes, bodyBytes + trailerBytes);
  if (rest.length < bodyBytes + trailerBytes) return 'incomplete';
  const body = rest.subarray(0, bodyBytes);
  const isWhole = rest.readUInt32LE(bodyBytes) === crc32(body) && rest.at(-1) === endByte;
  return isWhole ? body : judge(read, at, size);
}

const isHeader = (bytes: Buffer, at: number): boolean =>
  bytes.readUInt32LE(at) === magicNumber &&
  bytes.readUInt32LE(at + 8) === crc32(bytes.subarray(at, at + 8));

/** Decides between an interrupted write and damage, for an invalid group. */
function judge(read: Read, at: number, size: number): 'incomplete' | 'damaged' {
  const rest = read(at, size - at);
  for (let next = 1; next <= rest.length - headerBytes; next += 1) {
    if (isHeader(rest, next)) return 'damaged';
  }
  for (let from = 0; from < rest.length; ) {
    const to = Math.min(rest.length, from + sectorBytes - ((at + from) % sectorBytes));
    if (rest.subarray(from, to).every((byte) => byte === 0)) return 'incomplete';
    from = to;
  }
  return 'damaged';
}

function* readChanges(body: Buffer): Generator<Change> {
  for (let at = 0; at < body.length; ) {
    const collection = body.readUInt32LE(at);
    const record = body.readUIntLE(at + 4, 6);
    const from = at + keyBytes;
    const length = body.readUInt32LE(from);
    yield { collection, record, bytes: length === 0 ? null : body.subarray(from, from + length) };
    at = from + Math.max(4, length);
  }
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

export function copyRange(
  source: number,
  from: number,
  to: number,
  target: number,
  targetFrom: number,
): void {
  const buffer = Buffer.allocUnsafe(2 ** 18);
  for (let at = from; at < to; ) {
    const count = readSync(source, buffer, 0, Math.min(buffer.length, to - at), at);
    if (count === 0) throw new Error('the source ends early');
    writeAll(target, buffer.subarray(0, count), targetFrom + at - from);
    at += count;
  }
}
