import sharp from 'sharp';
import { bufferOf, textAt } from '../bytes.ts';
import { openAs } from '../container/container.ts';
import { examineWith, libvipsFile } from '../file.ts';
import { IsolationRequired } from '../isolation.ts';
import { png } from '../png/format.ts';
import type { SourceFormat } from '../source-format.ts';
import { jxlParts } from './boxes.ts';
import { decodeJxl, jxlHeader } from './decode.ts';

/** Whether libvips decodes JPEG XL; sharp's binaries on npm do not. */
const isBuiltIn = sharp.format.jxl.input.buffer;

/** For a libvips without it. */
const ownDecoder: Pick<SourceFormat, 'weigh' | 'examine'> = {
  weigh: ({ bytes }, { sourceMaxPixels }) => {
    const { width, height, bits } = jxlHeader(bytes, sourceMaxPixels);
    return { width, height, is16Bit: bits > 8 };
  },
  examine: async ({ bytes, deliverable }, limits, options) => {
    const { premultiplied } = jxlHeader(bytes, limits.sourceMaxPixels);
    if (!limits.isolated) throw new IsolationRequired();
    const needsMetadata = !options.stripMetadata || options.copyright;
    const decoded = await decodeJxl(bytes, premultiplied, needsMetadata);
    const file = { ...openAs(png, decoded), deliverable };
    const { facts } = await png.examine(file, limits, options);
    return { file, facts: { ...facts, format: jxl } };
  },
};

/** JPEG XL, which becomes an upright PNG; of an animation its first frame. */
export const jxl: SourceFormat = {
  ...libvipsFile,
  name: 'jxl',
  label: 'JPEG XL',
  extensions: ['jxl'],
  // A codestream alone, and one in boxes (ISO/IEC 18181-2).
  matches: textAt(0, '\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n'),
  runsIn: 'process',
  isolatedLoader: 'VipsForeignLoadJxl',
  // In WebAssembly: 22 to 24 bytes without and 31 with transparency, above the 200 MiB of a process that has decoded a
  // small one, which `isolatedCost` counts with 256. Of more than 8 bits 46.
  cost: { ms: 200, bytes: 28, deep: { ms: 200, bytes: 48 } },
  container: null,
  ownExif: (file) => {
    const { exif } = jxlParts(file, true);
    return exif && bufferOf(exif);
  },
  ...(isBuiltIn ? { examine: examineWith({ decoder: 'jxl' }) } : ownDecoder),
};
