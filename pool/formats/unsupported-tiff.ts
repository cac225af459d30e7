import { ServiceError } from '../../contract/errors.ts';
import { bufferOf } from './container/container.ts';
import { type TiffPixels, tiffPixels } from './container/tiff.ts';
import { kinds, type SourceKind } from './kinds.ts';

/**
 * The error for a file in a form that libvips does not read: TIFF has more of them than any library reads,
 * and one such page keeps libvips from opening the others. Called where reading failed. The file's own tags
 * decide, because all threads have one buffer for messages of libvips together: a message may be missing,
 * or be that of another file.
 *
 * @returns null where the form is none of these
 */
export function unsupportedTiff(
  kind: SourceKind,
  source: Uint8Array,
  error: unknown,
): ServiceError | null {
  if (kind !== 'tiff') return null;
  const form = unreadPage(bufferOf(source));
  if (form === null) return null;
  return new ServiceError(
    'source_unsupported',
    `The source is a ${kinds[kind].label} in a form that is not read (${form}). To use it: save it with another compression, or as PNG.`,
    error,
  );
}

function unreadPage(file: Buffer): string | null {
  for (const page of tiffPixels(file)) {
    const form = formOf(page);
    if (form !== null) return form;
  }
  return null;
}

/** The values of the tag Compression that libtiff does not read, or only in some installations. */
const compressions: Readonly<Record<number, string>> = {
  6: 'old-style JPEG',
  9: 'JBIG',
  10: 'JBIG',
  32909: 'PixarLog',
  33003: 'JPEG 2000',
  33005: 'JPEG 2000',
  34661: 'JBIG',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34892: 'lossy JPEG of DNG',
  34925: 'LZMA',
  50000: 'Zstandard',
  50002: 'JPEG XL',
  52546: 'JPEG XL',
};

const photometric = { white: 0, black: 1, palette: 3 } as const;

/** What libvips refuses (libvips/foreign/tiff2vips.c). */
function formOf(page: TiffPixels): string | null {
  const { compression, bits, samples, colours, separate, tiled } = page;
  const name = compressions[compression];
  if (name !== undefined) return `${name} compression`;
  if (separate && tiled) return 'tiles of separate planes';
  const isPalette = colours === photometric.palette;
  const isGrey = colours === photometric.white || colours === photometric.black;
  const small = isPalette || (isGrey && samples === 1);
  if ([8, 16, 32].includes(bits) || (small && [1, 2, 4].includes(bits))) return null;
  return `${samples === 1 ? 'one sample' : `${samples} samples`} of ${bits} bits`;
}
