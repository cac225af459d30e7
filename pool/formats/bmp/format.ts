import { examineBitmap } from '../bitmap/examine.ts';
import { isHeaderSize } from '../bitmap/header.ts';
import { hasAlpha } from '../bitmap/pixels.ts';
import { rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';
import { decodeBmp, readBmp } from './decode.ts';

/** BMP, which the service decodes itself. */
export const bmp: SourceFormat = {
  ...rawFile,
  name: 'bmp',
  label: 'BMP',
  extensions: ['bmp'],
  // Checks the header too, because many texts start with BM.
  matches: (text, head) =>
    text.startsWith('BM') && head.length >= 26 && isHeaderSize(head.readUInt32LE(14)),
  // Decoded to pixels that sharp copies.
  cost: { ms: 40, bytes: 8 },
  examine: async (file, limits, options) => {
    const header = readBmp(file.bytes);
    return examineBitmap(file, header, hasAlpha(header), limits, options);
  },
  open: ({ file }) => rawInput(decodeBmp(file.bytes)),
};
