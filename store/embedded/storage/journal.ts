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
  /** The commit at the end of the event loop iteration; null while there is no change. */
  #committing: Promise<void> | null = null;

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

  /**
   * Resolves once all changes so far are on disk.
   * @throws {ReplyError} 14031 if the write failed; all changes of the iteration are then undone.
   */
  async durable(): Promise<void> {
    if (this.#changes.size === 0) return;
    this.#committing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#committing = null;
      this.commit();
    });
    await this.#committing;
  }

  /** @throws as {@link durable} */
  commit(): void {
    const changes = this.#changes;
    this.#changes = new Map();
    try {
      this.#database.transactionSync(() => {
        for (const { key, bytes } of changes.values()) {
          if (bytes === null) this.#database.removeSync(key);
          else this.#database.putSync(key, bytes);
        }
      });
      this.#preallocation.committed();
    } catch (error) {
      this.#preallocation.committed();
      this.#recover();
      const reason = error instanceof Error ? error.message : String(error);
      throw new ReplyError(14031, `the write to disk failed: ${reason}`);
    }
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
    await this.durable();
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
