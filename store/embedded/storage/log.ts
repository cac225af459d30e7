import {
  closeSync,
  existsSync,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ReplyError } from '../errors.ts';
import {
  backupTimeGroup,
  type Change,
  copyRange,
  formatChange,
  readLog,
  snapshotEndChange,
  syncPath,
  toGroup,
  writeAll,
} from './log-file.ts';

/** A log shorter than this is not rewritten. */
const minRewriteBytes = 2 ** 20;
/** Bytes of a snapshot that are written before other work continues. */
const sliceBytes = 2 ** 18;
const fullDiskCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Appends all changes of an event loop iteration to the store's file as one group, and syncs it
 * before the replies are sent. Synchronous, because the thread serves only the store.
 *
 * A log that has become twice as long as its last snapshot is replaced by a new snapshot, with
 * pauses for other work.
 */
export class Log {
  readonly file: string;
  readonly #live: () => Iterable<Change>;
  #descriptor: number;
  #size: number;
  #rewriteAt: number;
  #changes: Change[] = [];
  #undo: (() => void)[] = [];
  /** The commit at the end of the event loop iteration; null while there is no change. */
  #committing: Promise<void> | null = null;
  #failure: ReplyError | null = null;
  /** Once set, the file's contents are unknown, and no change is accepted until the next start. */
  #broken: Error | null = null;
  #groups = 0;
  /** A rewrite or a copy in progress. */
  #background: Promise<void> | null = null;
  #isClosing = false;

  /**
   * Opens a store's file, or creates it.
   * @param onChange runs for each stored change
   * @param live returns all records, for a snapshot; can be called after the constructor
   * @throws {DataFileDamaged}
   * @throws a file system error
   */
  constructor(file: string, onChange: (change: Change) => void, live: () => Iterable<Change>) {
    this.file = file;
    this.#live = live;
    if (!existsSync(file)) create(file);
    const { bytes, snapshotBytes } = readLog(file, onChange);
    this.#descriptor = openSync(file, 'r+');
    this.#size = bytes;
    this.#rewriteAt = nextRewrite(snapshotBytes);
    if (fstatSync(this.#descriptor).size === bytes) return;
    ftruncateSync(this.#descriptor, bytes);
    fdatasyncSync(this.#descriptor);
  }

  /** Length of the file, which ends with a whole group. */
  get size(): number {
    return this.#size;
  }

  /** Increases with each group. */
  get groups(): number {
    return this.#groups;
  }

  /** @param undo undoes the change in memory, if it cannot be written */
  add(change: Change, undo: () => void): void {
    this.#changes.push(change);
    this.#undo.push(undo);
  }

  /**
   * Resolves once all changes so far are on disk.
   * @throws {ReplyError} 14031 if the write failed; all changes of the iteration are then undone.
   */
  async durable(): Promise<void> {
    if (this.#changes.length === 0) return;
    this.#committing ??= nextTurn().then(() => {
      this.#commit();
      const failure = this.#failure;
      [this.#committing, this.#failure] = [null, null];
      if (failure !== null) throw failure;
    });
    await this.#committing;
  }

  /** Writes the changes so far. A failure is reported to all that wait for the iteration's end. */
  #commit(): void {
    const [changes, undo] = [this.#changes, this.#undo];
    if (changes.length === 0) return;
    [this.#changes, this.#undo] = [[], []];
    try {
      this.#append(toGroup(changes));
      this.#groups += 1;
    } catch (error) {
      for (const step of undo.reverse()) step();
      const { code, message } = error as NodeJS.ErrnoException;
      const isFull = fullDiskCodes.has(code ?? '');
      const text = isFull ? 'there is no space for the write on the disk' : 'the write failed';
      this.#failure = new ReplyError(14031, `${text}: ${message}`);
    }
    if (this.#size >= this.#rewriteAt && this.#background === null) {
      this.#inBackground(this.#rewrite());
    }
  }

  #append(group: Buffer): void {
    if (this.#broken !== null) throw this.#broken;
    try {
      writeAll(this.#descriptor, group, this.#size);
    } catch (error) {
      this.#cutOff();
      throw error;
    }
    try {
      fdatasyncSync(this.#descriptor);
    } catch (error) {
      // The kernel may have dropped the data, and a second sync would succeed without it.
      this.#break(error);
      this.#cutOff();
      throw error;
    }
    this.#size += group.length;
  }

  /** Removes what a failed write has left, so that no later group follows it. */
  #cutOff(): void {
    try {
      ftruncateSync(this.#descriptor, this.#size);
    } catch (error) {
      this.#break(error);
    }
  }

  #break(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#broken ??= new Error(
      `the store accepts no change until its next start, after: ${reason}`,
    );
  }

  /**
   * Replaces the log by a snapshot of all records and the groups that were appended meanwhile. The
   * snapshot can contain some of these changes already; repeating them in order has no effect.
   * Until the new file is complete and synced, the old file stays. A failure is tried again when the
   * log has doubled.
   */
  async #rewrite(): Promise<void> {
    const temporary = `${this.file}.new`;
    let descriptor: number | null = null;
    try {
      descriptor = openSync(temporary, 'w', 0o600);
      fchmodSync(descriptor, fstatSync(this.#descriptor).mode & 0o777);
      const from = this.#size;
      const snapshotBytes = await this.#writeSnapshot(descriptor);
      if (snapshotBytes === null) return;
      // Twice, so that the second sync, which blocks writes, has little to do.
      const middle = this.#size;
      copyRange(this.#descriptor, from, middle, descriptor, snapshotBytes);
      await promisify(fdatasync)(descriptor);
      this.#commit();
      const middleCopy = snapshotBytes + middle - from;
      copyRange(this.#descriptor, middle, this.#size, descriptor, middleCopy);
      fdatasyncSync(descriptor);
      renameSync(temporary, this.file);
      const replaced = this.#descriptor;
      this.#descriptor = descriptor;
      descriptor = null;
      this.#size = middleCopy + this.#size - middle;
      this.#rewriteAt = nextRewrite(snapshotBytes);
      try {
        syncPath(dirname(this.file));
      } catch (error) {
        // After a power failure the folder could contain the old file.
        this.#break(error);
      }
      closeSync(replaced);
    } catch {
      this.#rewriteAt = nextRewrite(this.#size);
    } finally {
      if (descriptor !== null) {
        closeSync(descriptor);
        rmSync(temporary, { force: true });
      }
    }
  }

  /** @returns its length, or null if the log is closing */
  async #writeSnapshot(descriptor: number): Promise<number | null> {
    let written = 0;
    const write = (changes: readonly Change[]) => {
      const group = toGroup(changes);
      writeAll(descriptor, group, written);
      written += group.length;
    };
    let slice: Change[] = [formatChange];
    let bytes = 0;
    for (const change of this.#live()) {
      slice.push(change);
      bytes += change.bytes?.length ?? 0;
      if (bytes < sliceBytes) continue;
      write(slice);
      [slice, bytes] = [[], 0];
      await nextTurn();
      // A change that is not written could still be undone.
      this.#commit();
      if (this.#isClosing) return null;
    }
    write([...slice, snapshotEndChange]);
    return written;
  }

  /** Copies the file to a new file. */
  async copyTo(target: string): Promise<void> {
    while (this.#background !== null) await this.#background;
    const copying = this.#copy(target);
    this.#inBackground(copying);
    await copying;
  }

  async #copy(target: string): Promise<void> {
    const [size, time] = [this.#size, new Date()];
    await copyFile(this.file, target);
    const handle = await open(target, 'r+');
    try {
      await handle.truncate(size);
      await handle.write(backupTimeGroup(time), 0, undefined, size);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  /** One at a time, because a rewritten log is another file. */
  #inBackground(task: Promise<void>): void {
    this.#background = task
      .catch(() => {})
      .finally(() => {
        this.#background = null;
      });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.durable().catch(() => {});
    await this.#background;
    closeSync(this.#descriptor);
  }
}

/** Creates a file that contains no record, in one step. */
function create(file: string): void {
  const temporary = `${file}.new`;
  try {
    const descriptor = openSync(temporary, 'w', 0o600);
    try {
      writeAll(descriptor, toGroup([formatChange, snapshotEndChange]), 0);
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
    syncPath(dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const nextRewrite = (snapshotBytes: number): number => 2 * Math.max(snapshotBytes, minRewriteBytes);
