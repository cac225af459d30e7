import { textAt } from '../bytes.ts';
import { examineWith, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { gifParts, withGifEnd, withGifTransparency } from './parts.ts';

export const gif: SourceFormat = {
  ...libvipsFile,
  name: 'gif',
  label: 'GIF',
  extensions: ['gif'],
  matches: textAt(0, 'GIF87a', 'GIF89a'),
  animates: true,
  cost: { ms: 35, bytes: 4 },
  container: {
    parts: gifParts,
    sequential: true,
    ended: withGifEnd,
    completed: withGifTransparency,
  },
  examine: examineWith({ decoder: 'gif' }),
};
