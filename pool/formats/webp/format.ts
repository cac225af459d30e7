import { examineWith, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { correctWebp, webpParts } from './parts.ts';

export const webp: SourceFormat = {
  ...libvipsFile,
  name: 'webp',
  label: 'WebP',
  extensions: ['webp'],
  matches: (text) => text.startsWith('RIFF') && text.startsWith('WEBP', 8),
  animates: true,
  cost: { ms: 15, bytes: 4 },
  container: { parts: webpParts, sequential: true, correct: correctWebp },
  // The decoder scales by the means of areas: above a half that costs more quality than it saves time, below it saves a
  // third of the time or more.
  decodesReduced: (scale) => scale <= 1 / 2,
  examine: examineWith({ decoder: 'webp' }),
};
