import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that close deletes. */
export interface TemporaryFolder {
  readonly path: string;
  close(): Promise<void>;
}

export async function temporaryFolder(name: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `image-delivery-${name}-`));
  // Open writes can add a file meanwhile.
  const close = () => rm(path, { recursive: true, force: true, maxRetries: 10 });
  return { path, close };
}
