import { examineBitmap } from '../bitmap/examine.ts';
import { textAt } from '../bytes.ts';
import { openAs } from '../container/container.ts';
import { hasExcessMetadata } from '../isolation.ts';
import { png } from '../png/format.ts';
import { rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';
import { decodeIcon, readIcon } from './decode.ts';

const signature = textAt(0, '\0\0\x01\0', '\0\0\x02\0');

/** ICO and CUR: uses the largest image, a bitmap or a PNG. */
export const ico: SourceFormat = {
  ...rawFile,
  name: 'ico',
  label: 'ICO',
  extensions: ['ico'],
  // An icon or cursor whose first image follows the directory.
  matches: (text, head) => {
    if (!signature(text, head) || head.length < 22) return false;
    const images = head.readUInt16LE(4);
    return images > 0 && head.readUInt32LE(18) >= 6 + 16 * images;
  },
  cost: { ms: 55, bytes: 8 },
  hidesMetadata: ({ bytes }) => {
    const icon = readIcon(bytes);
    return icon.png !== null && hasExcessMetadata(openAs(png, icon.png));
  },
  examine: async (file, limits, options) => {
    const icon = readIcon(file.bytes);
    if (icon.png === null) return examineBitmap(file, icon.header, true, limits, options);
    const examined = await png.examine(openAs(png, icon.png), limits, options);
    return { ...examined, facts: { ...examined.facts, format: ico } };
  },
  open: ({ file }) => rawInput(decodeIcon(file.bytes)),
};
