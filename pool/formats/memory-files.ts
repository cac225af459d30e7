import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';

/**
 * Linux's O_TMPFILE, which Node does not export: an unnamed file that disappears when its last
 * descriptor closes.
 */
const unnamed = constants.O_DIRECTORY | 0o20_000_000;

const folder = '/dev/shm';

/** Where libvips opens a file by its descriptor, in the same process only. */
const descriptors = '/proc/self/fd';

const isSupported = process.platform === 'linux' && existsSync(descriptors);

/**
 * Copies of sources as unnamed files in memory, for libvips options that sharp passes only after a
 * file name. Other processes cannot open the files: libuv closes descriptors in children, and
 * `/proc` shows them only to the same user.
 */
export class MemoryFiles {
  readonly #open: number[] = [];

  /** Returns a copy's path, or null if such files are unsupported or `/dev/shm` is full. */
  write(bytes: Uint8Array): string | null {
    if (!isSupported) return null;
    try {
      const file = openSync(folder, unnamed | constants.O_RDWR, 0o600);
      this.#open.push(file);
      return writeSync(file, bytes) === bytes.byteLength ? `${descriptors}/${file}` : null;
    } catch {
      return null;
    }
  }

  /** Closes the files. Their paths can then lead to other files. */
  close(): void {
    for (const file of this.#open.splice(0)) closeSync(file);
  }
}
