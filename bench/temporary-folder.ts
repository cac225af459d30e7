import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is deleted when it is closed. */
export interface TemporaryFolder {
  readonly path: string;
  /** Aborted before it is deleted, to end writes. */
  readonly signal: AbortSignal;
  close(): Promise<void>;
}

export async function temporaryFolder(name: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `image-delivery-${name}-`));
  const closing = new AbortController();
  return {
    path,
    signal: closing.signal,
    async close() {
      closing.abort();
      // Open writes may add a file meanwhile.
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
