import { examineWith, libvipsFile } from '../file.ts';
import {
  isAvif,
  readHeif,
  requireConvertibleCodes,
  unsupportedHeif,
  withOpenedBrand,
} from '../heif/header.ts';
import { heifParts } from '../heif/parts.ts';
import { withHeifProfile } from '../heif/profile.ts';
import type { SourceFormat } from '../source-format.ts';

const label = 'AVIF';

export const avif: SourceFormat = {
  ...libvipsFile,
  name: 'avif',
  label,
  extensions: ['avif'],
  matches: isAvif,
  cost: { ms: 200, bytes: 8, uninterruptibleMs: 600 },
  container: {
    parts: heifParts,
    // A table lists each image's offset, so decoding is not sequential.
    sequential: false,
    opened: withOpenedBrand('avif'),
    completed: withHeifProfile,
    hasOnlyImages: (source) => {
      const { brand, onlyImages } = readHeif(source);
      return brand === 'avif' && onlyImages;
    },
  },
  unsupportedEncoding: unsupportedHeif(label),
  examine: examineWith({
    decoder: 'heif',
    storedFrames: (source) => readHeif(source).frames,
    check: requireConvertibleCodes,
  }),
};
