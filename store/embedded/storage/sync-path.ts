import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a file, or a folder's entries, because a power failure could otherwise lose a new file. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
