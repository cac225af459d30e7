import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import decompress from 'wawoff2/decompress.js';

/** Reads a file in the font packages. */
const fontFile = (path: string): Promise<Buffer> =>
  readFile(fileURLToPath(import.meta.resolve(path)));

/** The Arabic letters of Noto Sans Arabic, which is only for tests. */
export const arabic = await fontFile(
  '@fontsource/noto-sans-arabic/files/noto-sans-arabic-arabic-400-normal.woff2',
);

/** Reads a packaged file. */
export const openSans = (script: string): Promise<Buffer> =>
  fontFile(`@fontsource-variable/open-sans/files/open-sans-${script}-wght-normal.woff2`);

/** Latin letters outside the package. */
export const italic = await fontFile(
  '@fontsource-variable/open-sans/files/open-sans-latin-wght-italic.woff2',
);

/** Returns different, heavier Latin letters under the packaged family's name. */
export async function impostor(): Promise<Buffer> {
  const file = await fontFile(
    '@fontsource/noto-sans-arabic/files/noto-sans-arabic-latin-900-normal.woff2',
  );
  const font = Buffer.from(await decompress(file));
  const [old, name] = ['Noto Sans Arabic', 'Open Sans'].map((text) =>
    Buffer.from(text, 'utf16le').swap16(),
  ) as [Buffer, Buffer];
  const table = font.readUInt32BE(font.indexOf('name', 12, 'latin1') + 8);
  const storage = table + font.readUInt16BE(table + 4);
  for (let index = 0; index < font.readUInt16BE(table + 2); index += 1) {
    const record = table + 6 + 12 * index;
    const text = storage + font.readUInt16BE(record + 10);
    if (![1, 16].includes(font.readUInt16BE(record + 6))) continue;
    if (font.compare(old, 0, old.length, text, text + old.length) !== 0) continue;
    name.copy(font, text);
    font.writeUInt16BE(name.length, record + 8);
  }
  return font;
}

/** Returns a WOFF2 with a single table that declares a length. It unpacks to zeros. */
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
