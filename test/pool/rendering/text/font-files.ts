import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The bytes of a file in the packages of fonts. */
const fontFile = (path: string): Promise<Buffer> =>
  readFile(fileURLToPath(import.meta.resolve(path)));

/** The Arabic letters of Noto Sans Arabic, which is only for tests. */
export const arabic = await fontFile(
  '@fontsource/noto-sans-arabic/files/noto-sans-arabic-arabic-400-normal.woff2',
);

/** One of the packaged files. */
export const openSans = (script: string): Promise<Buffer> =>
  fontFile(`@fontsource-variable/open-sans/files/open-sans-${script}-wght-normal.woff2`);
