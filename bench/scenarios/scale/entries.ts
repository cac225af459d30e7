import { createHash } from 'node:crypto';
import { mkdir, statfs, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { encodeFile } from '../../../pool/cache/file.ts';
import { entityTag, type Image } from '../../../pool/image.ts';

/** A file of the disk cache occupies at least one block. */
export const entryBytes = 4_096;
/** The share of the free blocks and files that may be used. */
const usableShare = 0.5;
const atATime = 32;

const body = Buffer.from('a tiny image');
const image: Image = {
  body,
  contentType: 'image/webp',
  etag: entityTag(body),
  fetchedAt: [1],
  width: 1,
  height: 1,
};

const provenance = { tags: { project: '', inputs: [''] }, stamp: 0 };

/** Whether this number of entries fits in half of the free space. */
export async function hasRoom(folder: string, count: number): Promise<boolean> {
  const { bavail, bsize, ffree } = await statfs(folder);
  return (
    count * entryBytes < usableShare * bavail * bsize &&
    (ffree === 0 || count < usableShare * ffree)
  );
}

/** Writes intact entries as the service does; their keys are the hashes of the numbers of a range. */
export async function writeEntries(
  folder: string,
  from: number,
  until: number,
  signal?: AbortSignal,
): Promise<void> {
  let next = from;
  const folders = new Set<string>();
  const writer = async () => {
    for (let number = next++; number < until; number = next++) {
      signal?.throwIfAborted();
      const key = createHash('sha256').update(String(number)).digest('hex');
      const path = cacheFilePath(folder, key);
      if (!folders.has(dirname(path))) {
        await mkdir(dirname(path), { recursive: true });
        folders.add(dirname(path));
      }
      await writeFile(path, Buffer.concat(encodeFile(key, image, provenance)));
    }
  };
  await Promise.all(Array.from({ length: atATime }, writer));
}
