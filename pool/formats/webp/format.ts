import { openAs } from '../container/container.ts';
import { examineWith, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { correctWebp, webpParts, withWebpPixels, withWebpSize } from './parts.ts';

const examine = examineWith({ decoder: 'webp' });

export const webp: SourceFormat = {
  ...libvipsFile,
  name: 'webp',
  label: 'WebP',
  extensions: ['webp'],
  matches: (text) => text.startsWith('RIFF') && text.startsWith('WEBP', 8),
  animates: true,
  cost: { ms: 15, bytes: 4 },
  container: { parts: webpParts, sequential: true, opened: withWebpSize, correct: correctWebp },
  // The decoder scales by averaging areas. At scales up to a half this saves a third of the time or
  // more; above a half it costs more quality than it saves time.
  decodesReduced: (scale) => scale <= 1 / 2,
  examine: (file, limits, options) => {
    const bytes = options.lenient ? withWebpPixels(file.bytes) : file.bytes;
    return examine(bytes === file.bytes ? file : openAs(webp, bytes), limits, options);
  },
};
