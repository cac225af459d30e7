import { dirname } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { ReplyError } from '../errors.ts';
import { Preallocation } from './preallocation.ts';
import { syncPath } from './sync-path.ts';

/** `[collection, record]`; collection 0 is the catalogue, with a record per collection. */
export type RecordKey = [collection: number, record: number];

/**
 * Writes to disk in batches. All changes in an event loop iteration form one transaction, which is
 * synced before the replies are sent.
 *
 * The commit is synchronous, because lmdb's asynchronous writes report a failed commit through
 * several internal promises that callers cannot catch. The thread serves only the store, so it can
 * block.
 */
export class Journal {
  readonly #database: RootDatabase<Uint8Array, RecordKey>;
  readonly #preallocation: Preallocation;
  readonly #recover: () => void;
  #changes = new Map<string, { key: RecordKey; bytes: Uint8Array | null }>();
  #finished = 0;
  #waiting: Waiting | null = null;

  /** @param recover reloads memory from disk after a failed commit */
  constructor(file: string, recover: () => void) {
    this.#recover = recover;
    this.#database = open<Uint8Array, RecordKey>({
      path: file,
      noSubdir: true,
      encoding: 'binary',
      keyEncoding: 'ordered-binary',
      // Otherwise a commit returns before the sync.
      overlappingSync: false,
    });
    this.#preallocation = new Preallocation(file, this.#database);
    syncPath(dirname(file));
  }

  /** @throws {ReplyError} 14031 if the disk is full; the store is then unchanged. */
  put(key: RecordKey, bytes: Uint8Array): void {
    this.#preallocation.add(bytes.length);
    this.#changes.set(key.join(), { key, bytes });
  }

  /** @throws {ReplyError} as {@link put} */
  remove(key: RecordKey): void {
    this.#preallocation.add(0);
    this.#changes.set(key.join(), { key, bytes: null });
  }

  /** The next change's batch number. */
  get batch(): number {
    return this.#finished + 1;
  }

  /**
   * Resolves once the batch is on disk.
   * @throws {ReplyError} 14031 if the write failed; all changes in the batch are then undone.
   */
  durable(batch: number): Promise<void> {
    if (batch <= this.#finished) return Promise.resolve();
    this.#waiting ??= wait(() => this.commit());
    return this.#waiting.promise;
  }

  commit(): void {
    const waiting = this.#waiting;
    const changes = this.#changes;
    this.#waiting = null;
    this.#changes = new Map();
    try {
      if (changes.size > 0) {
        this.#database.transactionSync(() => {
          for (const { key, bytes } of changes.values()) {
            if (bytes === null) this.#database.removeSync(key);
            else this.#database.putSync(key, bytes);
          }
        });
      }
    } catch (error) {
      this.#finished += 1;
      this.#preallocation.committed();
      this.#recover();
      const reason = error instanceof Error ? error.message : String(error);
      waiting?.reject(new ReplyError(14031, `the write to disk failed: ${reason}`));
      return;
    }
    this.#finished += 1;
    this.#preallocation.committed();
    waiting?.resolve();
  }

  *read(collection: number): Generator<{ record: number; bytes: Uint8Array }> {
    for (const { key, value } of this.#database.getRange({
      start: [collection, 0],
      end: [collection + 1, 0],
    })) {
      // Copies the value, because lmdb can reuse its memory.
      yield { record: key[1], bytes: Uint8Array.from(value) };
    }
  }

  /** Increases with every commit that changed something. */
  get transaction(): number {
    return this.#preallocation.transaction;
  }

  /** Writes a compact copy of the last commit's state to a new file, in another thread. */
  async copyTo(file: string): Promise<void> {
    await this.#database.backup(file, true);
  }

  async close(): Promise<void> {
    this.commit();
    this.#preallocation.close();
    await this.#database.close();
  }
}

/**
 * Writes a compact copy of a data file to a new file, even while another process uses the data
 * file.
 */
export async function copyDataFile(from: string, to: string): Promise<void> {
  const database = open({ path: from, noSubdir: true, readOnly: true });
  try {
    await database.backup(to, true);
  } finally {
    await database.close();
  }
}

interface Waiting {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function wait(commit: () => void): Waiting {
  let resolve = () => {};
  let reject = (_error: Error) => {};
  const promise = new Promise<void>((onDone, onFailure) => {
    resolve = onDone;
    reject = onFailure;
  });
  // After a connection has closed, no reply waits; `commit` has handled the failure.
  promise.catch(() => {});
  setImmediate(commit);
  return { promise, resolve, reject };
}
