import type { ServiceError } from '../../../contract/errors.ts';
import { asBuffer } from '../bytes.ts';
import { unsupported } from '../errors.ts';
import { jpegParts } from './parts.ts';

/**
 * Frame types that libjpeg-turbo, or sharp's build of it, does not decode, by marker (ITU-T T.81,
 * table B.1).
 */
const frames: Readonly<Record<number, string>> = {
  195: 'lossless',
  197: 'hierarchical',
  198: 'hierarchical',
  199: 'hierarchical',
  203: 'lossless',
  205: 'hierarchical',
  206: 'hierarchical',
  207: 'hierarchical',
  247: 'JPEG-LS',
};

/** Returns the error for a JPEG that browsers do not show either; null for other files. */
export function unsupportedJpeg(source: Uint8Array, cause: unknown): ServiceError | null {
  const file = asBuffer(source);
  for (const { role, from, to } of jpegParts(file)) {
    if (role === 'scan') break;
    const marker = file[from] === 0xff ? (file[from + 1] ?? 0) : 0;
    const isUsual = marker >= 0xc0 && marker <= 0xc2;
    const bits = to - from > 4 ? (file[from + 4] ?? 8) : 8;
    const encoding = frames[marker] ?? (isUsual && bits !== 8 ? `${bits} bits` : undefined);
    if (encoding === undefined) continue;
    const message = `The source is a JPEG in an unsupported encoding (${encoding}). To use it: save it as a usual JPEG, or as PNG.`;
    return unsupported(message, cause);
  }
  return null;
}
