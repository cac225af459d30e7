import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isNotSupported } from '../../make-folder.ts';
import type { Document } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { backupFilePath, readLog, snapshotEnd, syncPath, toRecord, writeAll } from './log-file.ts';

/** A log shorter than this is not rewritten for its length. */
const minRewriteBytes = 2 ** 20;
/** Bytes of a snapshot that are written before other work continues. */
const sliceBytes = 2 ** 18;
const fullDiskCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * The store's file. Each change is appended before it is made in memory, so a write that fails has
 * no effect. One sync per event loop iteration precedes the replies of all its commands.
 *
 * A log that has become twice as long as its last snapshot is replaced by a new snapshot, with
 * pauses for other work. The replaced log stays as the backup.
 */
export class Log {
  readonly file: string;
  readonly #live: () => Iterable<object>;
  #descriptor: number;
  #size: number;
  #synced: number;
  #rewriteAt: number;
  /** The size after the last rewrite. */
  #rewritten: number;
  /** The sync at the end of the event loop iteration; null while there is no change. */
  #syncing: Promise<void> | null = null;
  /** Once set, the file can differ from the memory, and nothing is answered until the next start. */
  #broken: Error | null = null;
  #rewriting: Promise<void> | null = null;
  #isClosing = false;

  /**
   * Opens a store's file, or creates it.
   * @param onChange runs for each stored change
   * @param live returns all changes for a snapshot; can be called after the constructor
   * @throws {DataFileDamaged}
   * @throws a file system error
   */
  constructor(file: string, onChange: (change: Document) => void, live: () => Iterable<object>) {
    this.file = file;
    this.#live = live;
    if (!existsSync(file)) create(file);
    const { bytes, snapshotBytes } = readLog(file, onChange);
    this.#descriptor = openSync(file, 'r+');
    this.#size = bytes;
    this.#synced = bytes;
    this.#rewriteAt = nextRewrite(snapshotBytes);
    this.#rewritten = existsSync(backupFilePath(file)) ? snapshotBytes : 0;
    if (fstatSync(this.#descriptor).size === bytes) return;
    ftruncateSync(this.#descriptor, bytes);
    fdatasyncSync(this.#descriptor);
  }

  /** @throws {ReplyError} 14031 if the write failed; the change must then not be made. */
  append(change: object): void {
    if (this.#broken !== null) throw toReplyError(this.#broken);
    try {
      const record = toRecord(change, this.#size - this.#synced);
      writeAll(this.#descriptor, record, this.#size);
      this.#size += record.length;
    } catch (error) {
      try {
        // So that no later record follows a part of this one.
        ftruncateSync(this.#descriptor, this.#size);
      } catch (cause) {
        this.#break(cause);
      }
      throw toReplyError(error);
    }
  }

  /**
   * Resolves once all changes so far are on disk.
   * @throws {ReplyError} 14031 if they might not be.
   */
  async durable(): Promise<void> {
    if (this.#broken === null && this.#synced === this.#size) return;
    this.#syncing ??= nextTurn().then(() => {
      this.#syncing = null;
      this.#sync();
    });
    await this.#syncing;
  }

  #sync(): void {
    if (this.#broken !== null) throw toReplyError(this.#broken);
    try {
      fdatasyncSync(this.#descriptor);
    } catch (error) {
      // The kernel may have dropped the data, and a second sync would succeed without it.
      this.#break(error);
      throw toReplyError(error);
    }
    this.#synced = this.#size;
    if (this.#size >= this.#rewriteAt) void this.#rewrite().catch(() => {});
  }

  #break(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#broken ??= new Error(`the store has failed and must be restarted: ${reason}`);
  }

  /**
   * Replaces a log that has changed since the last rewrite, and keeps it as the backup.
   * @throws if there is no space for the copy, for example
   */
  async backUp(): Promise<void> {
    if (this.#size !== this.#rewritten) await this.#rewrite();
  }

  #rewrite(): Promise<void> {
    this.#rewriting ??= this.#replace().finally(() => {
      this.#rewriting = null;
    });
    return this.#rewriting;
  }

  /**
   * Replaces the log by a snapshot and the changes that were appended meanwhile. The snapshot can
   * contain some of these changes already; repeating them in order has no effect. Until the new
   * file is complete and synced, the old file stays. After a failure, a length that has doubled
   * leads to another attempt.
   */
  async #replace(): Promise<void> {
    const temporary = `${this.file}.new`;
    const from = this.#size;
    this.#rewriteAt = nextRewrite(from);
    const { bavail, bsize } = statfsSync(dirname(this.file));
    if (bavail * bsize < from) throw new Error(`a copy needs ${from} free bytes`);
    // The next snapshot reads what follows this one.
    const descriptor = openSync(temporary, 'w+', 0o600);
    try {
      const { mode } = fstatSync(this.#descriptor);
      if (fstatSync(descriptor).mode !== mode) fchmodSync(descriptor, mode & 0o777);
      let written = 0;
      for (const slice of snapshot(this.#live())) {
        writeAll(descriptor, slice, written);
        written += slice.length;
        await nextTurn();
        if (this.#isClosing) throw new Error('the store ends');
      }
      // Before the changes that follow, so that the second sync, which blocks writes, is short.
      await promisify(fdatasync)(descriptor);
      const rest = Buffer.alloc(this.#size - from);
      readSync(this.#descriptor, rest, 0, rest.length, from);
      writeAll(descriptor, rest, written);
      fdatasyncSync(descriptor);
      this.append({ backupTime: new Date() });
      rmSync(backupFilePath(this.file), { force: true });
      linkOrCopy(this.file, backupFilePath(this.file));
      renameSync(temporary, this.file);
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
      this.#size = written + rest.length;
      this.#synced = this.#size;
      this.#rewritten = this.#size;
      this.#rewriteAt = nextRewrite(written);
    } catch (error) {
      closeSync(descriptor);
      rmSync(temporary, { force: true });
      throw error;
    }
    try {
      syncPath(dirname(this.file));
    } catch (error) {
      // After a power failure the folder could contain the old file.
      this.#break(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.durable().catch(() => {});
    await this.#rewriting?.catch(() => {});
    closeSync(this.#descriptor);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!isNotSupported(error)) throw error;
    copyFileSync(from, to);
  }
}

function* snapshot(changes: Iterable<object>): Generator<Buffer> {
  let slice: Buffer[] = [];
  let bytes = 0;
  for (const change of changes) {
    const record = toRecord(change);
    slice.push(record);
    bytes += record.length;
    if (bytes < sliceBytes) continue;
    yield Buffer.concat(slice);
    [slice, bytes] = [[], 0];
  }
  yield Buffer.concat([...slice, snapshotEnd]);
}

/** Creates a file that contains no change, in one step. */
function create(file: string): void {
  const temporary = `${file}.new`;
  writeFileSync(temporary, snapshotEnd, { mode: 0o600, flush: true });
  renameSync(temporary, file);
  syncPath(dirname(file));
}

function toReplyError(error: unknown): ReplyError {
  const { code, message } = error as NodeJS.ErrnoException;
  const isFull = fullDiskCodes.has(code ?? '');
  const text = isFull ? 'there is no space for the write on the disk' : 'the write failed';
  return new ReplyError(14031, `${text}: ${message}`);
}

const nextRewrite = (snapshotBytes: number): number => 2 * Math.max(snapshotBytes, minRewriteBytes);
