import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';

/**
 * Returns a folder's decodable files by name. @param report called with a line per undecodable file
 */
export async function readPhotographs(
  folder: string,
  report: (text: string) => void,
): Promise<Buffer[]> {
  const files: Buffer[] = [];
  for (const name of (await readdir(folder)).sort()) {
    try {
      const file = await readFile(join(folder, name));
      await sharp(file).resize(16).raw().toBuffer();
      files.push(file);
    } catch (error) {
      report(`${name} is left out, it cannot be read: ${String(error).split('\n', 1)[0]}`);
    }
  }
  return files;
}
