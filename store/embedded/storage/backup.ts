import { existsSync, statSync } from 'node:fs';
import { rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeBackupTime } from './backup-time.ts';
import type { Journal } from './journal.ts';
import { syncPath } from './sync-path.ts';

export interface BackupTimes {
  /** Until the first backup after a start, and between two, in ms. */
  readonly firstAfterMs: number;
  readonly everyMs: number;
}

const hourly: BackupTimes = { firstAfterMs: 60_000, everyMs: 60 * 60_000 };

export const toBackupFile = (file: string): string => file.replace(/(\.\w+)?$/, '.backup$1');

/**
 * Copies a changed data file to the same folder. A thread of lmdb copies a consistent snapshot, which
 * replaces the last backup when it is complete and synced.
 */
export class Backups {
  readonly #journal: Journal;
  readonly #file: string;
  readonly #onFailure: (reason: string) => void;
  readonly #timers: NodeJS.Timeout[];
  #running: Promise<void> | null = null;
  #copiedTransaction: number | null;

  constructor(
    journal: Journal,
    file: string,
    onFailure: (reason: string) => void,
    times: BackupTimes = hourly,
  ) {
    this.#journal = journal;
    this.#file = file;
    this.#onFailure = onFailure;
    this.#copiedTransaction = isOlder(toBackupFile(file), file) ? null : journal.transaction;
    const start = () => this.#start();
    this.#timers = [setTimeout(start, times.firstAfterMs), setInterval(start, times.everyMs)];
  }

  /** Resolves when a copy in progress has ended. */
  async close(): Promise<void> {
    const [first, others] = this.#timers;
    clearTimeout(first);
    clearInterval(others);
    await this.#running;
  }

  #start(): void {
    if (this.#running !== null || this.#copiedTransaction === this.#journal.transaction) return;
    this.#running = this.#copy()
      .catch((error) => this.#onFailure(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#running = null;
      });
  }

  async #copy(): Promise<void> {
    const transaction = this.#journal.transaction;
    const target = toBackupFile(this.#file);
    const temporary = `${target}.new`;
    await rm(temporary, { force: true });
    await this.#requireSpace();
    try {
      const time = new Date();
      await this.#journal.copyTo(temporary);
      await writeBackupTime(temporary, time);
      syncPath(temporary);
      await rename(temporary, target);
      syncPath(dirname(target));
    } finally {
      await rm(temporary, { force: true });
    }
    this.#copiedTransaction = transaction;
  }

  /** Leaves space for the store's own writes. */
  async #requireSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(dirname(this.#file));
    const neededBytes = 2 * statSync(this.#file).size;
    if (bavail * bsize < neededBytes) {
      throw new Error(`a copy needs ${neededBytes} free bytes, and ${bavail * bsize} are free`);
    }
  }
}

/** Returns whether a copy is missing or older than the original's last change. */
function isOlder(copy: string, original: string): boolean {
  return !existsSync(copy) || statSync(copy).mtimeMs < statSync(original).mtimeMs;
}
