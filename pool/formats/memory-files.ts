import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';

/** O_TMPFILE of Linux, which Node does not export: a file without a name, which ends with its last descriptor. */
const unnamed = constants.O_DIRECTORY | 0o20_000_000;

const folder = '/dev/shm';

/** Where libvips opens a file by its descriptor, in the same process only. */
const descriptors = '/proc/self/fd';

const isSupported = process.platform === 'linux' && existsSync(descriptors);

/**
 * Copies of sources as files in memory without names, for options of libvips that sharp passes only after a file's
 * name. Other processes cannot open them: libuv closes descriptors in children, and `/proc` gives them only to the same
 * user.
 */
export class MemoryFiles {
  readonly #open: number[] = [];

  /** Returns a path of a copy; null without such files or without memory for it, as in a small `/dev/shm`. */
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

  /** Ends the files. Their paths may then be those of other files. */
  close(): void {
    for (const file of this.#open.splice(0)) closeSync(file);
  }
}
