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

/** Tracks open resources, such as servers and temporary folders, and closes them. */
export class OpenResources {
  readonly #all: { close(): Promise<unknown> }[] = [];

  async open<T extends { close(): Promise<unknown> }>(starting: T | Promise<T>): Promise<T> {
    const resource = await starting;
    this.#all.push(resource);
    return resource;
  }

  /** Closes all, the last first. */
  async close(): Promise<void> {
    for (const resource of this.#all.splice(0).reverse()) await resource.close();
  }
}
