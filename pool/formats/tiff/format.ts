import { asBuffer, textAt } from '../bytes.ts';
import { examineWith, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { withTiffCmykProfile } from './cmyk.ts';
import { requireReadablePixels, unsupportedTiff } from './encodings.ts';
import { tiffParts } from './parts.ts';

export const tiff: SourceFormat = {
  ...libvipsFile,
  name: 'tiff',
  label: 'TIFF',
  extensions: ['tif', 'tiff'],
  // Classic and BigTIFF, little and big endian.
  matches: textAt(0, 'II*\0', 'MM\0*', 'II+\0', 'MM\0+'),
  cost: { ms: 10, bytes: 4 },
  container: { parts: tiffParts, sequential: false, completed: withTiffCmykProfile },
  // The tags of EXIF are in the file's own first directory.
  ownExif: asBuffer,
  unsupportedEncoding: unsupportedTiff,
  examine: examineWith({ decoder: 'tiff', check: requireReadablePixels }),
};
