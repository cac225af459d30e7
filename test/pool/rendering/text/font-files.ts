import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

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

/** Latin letters that are not packaged, of a family with the packaged name. */
export const italic = await fontFile(
  '@fontsource-variable/open-sans/files/open-sans-latin-wght-italic.woff2',
);

/** A WOFF2 with one table of a declared length. The unpacked data are zeros. */
export function woff2({ declared, actual }: { declared: number; actual: number }): Buffer {
  const data = brotliCompressSync(Buffer.alloc(actual));
  const digits = [28, 21, 14, 7, 0].map((shift) => Math.floor(declared / 2 ** shift) & 0x7f);
  const length = digits.map((digit, index) => (index < 4 ? digit | 0x80 : digit));
  const head = Buffer.alloc(48);
  head.write('wOF2\0\x01\0\0', 'latin1');
  head.writeUInt16BE(1, 12);
  head.writeUInt32BE(data.length, 20);
  return Buffer.concat([head, Buffer.from([5, ...length]), data]);
}
