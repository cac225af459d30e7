import { existsSync, statSync } from 'node:fs';
import { rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from './log.ts';
import { syncPath } from './log-file.ts';

export interface BackupTimes {
  /** Until the first backup after a start, and between two, in ms. */
  readonly firstAfterMs: number;
  readonly everyMs: number;
}

const hourly: BackupTimes = { firstAfterMs: 60_000, everyMs: 60 * 60_000 };

export const backupFilePath = (file: string): string => file.replace(/(\.\w+)?$/, '.backup$1');

/** Copies a changed data file to the same folder. A complete and synced copy replaces the last backup. */
export class Backups {
  readonly #log: Log;
  readonly #onFailure: (reason: string) => void;
  readonly #timers: NodeJS.Timeout[];
  #running: Promise<void> | null = null;
  #copiedGroups: number | null;

  constructor(log: Log, onFailure: (reason: string) => void, times: BackupTimes = hourly) {
    this.#log = log;
    this.#onFailure = onFailure;
    this.#copiedGroups = isOlder(backupFilePath(log.file), log.file) ? null : log.groups;
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
    if (this.#running !== null || this.#copiedGroups === this.#log.groups) return;
    this.#running = this.#copy()
      .catch((error) => this.#onFailure(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#running = null;
      });
  }

  async #copy(): Promise<void> {
    const { groups, file, size } = this.#log;
    const target = backupFilePath(file);
    const temporary = `${target}.new`;
    await rm(temporary, { force: true });
    const { bavail, bsize } = await statfs(dirname(file));
    // Leaves space for the store's own writes.
    if (bavail * bsize < 2 * size) {
      throw new Error(`a copy needs ${2 * size} free bytes, and ${bavail * bsize} are free`);
    }
    try {
      await this.#log.copyTo(temporary);
      await rename(temporary, target);
      syncPath(dirname(target));
    } finally {
      await rm(temporary, { force: true });
    }
    this.#copiedGroups = groups;
  }
}

/** Returns whether a copy is missing or older than the original's last change. */
function isOlder(copy: string, original: string): boolean {
  return !existsSync(copy) || statSync(copy).mtimeMs < statSync(original).mtimeMs;
}
