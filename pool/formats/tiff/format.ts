import type { ServiceError } from '../../../contract/errors.ts';
import { asBuffer, textAt } from '../bytes.ts';
import { unsupported } from '../errors.ts';
import { examineWith, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { type TiffPixels, tiffParts, tiffPixels, withTiffCmykProfile } from './parts.ts';

/**
 * Returns the error for an encoding that libvips 8.18 refuses, or decodes wrongly without an error:
 * for example it draws nothing for tiles of old-style JPEG if libtiff lacks that codec, as sharp's
 * does (`rtiff_read_rgba_tile`), and treats values from 0 to 1 as black. A single such page prevents
 * libvips from opening the other pages.
 */
function unsupportedTiff(source: Uint8Array, cause?: unknown): ServiceError | null {
  for (const page of tiffPixels(asBuffer(source))) {
    const encoding = unsupportedEncoding(page);
    if (encoding === null) continue;
    const message = `The source is a TIFF in an unsupported encoding (${encoding}). To use it: save it with another compression, or as PNG.`;
    return unsupported(message, cause);
  }
  return null;
}

/** JPEG by section 22 of TIFF 6.0, which current programs do not write. */
const oldJpeg = 6;
const newJpeg = 7;

/** Values of the tag Compression that libtiff reads nowhere, or only in some installations. */
const compressions: Readonly<Record<number, string>> = {
  [oldJpeg]: 'old-style JPEG',
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

/** sharp reads at most five bands. */
const maxSamples = 5;
const photometric = { white: 0, black: 1, palette: 3, ycc: 6, lab: 8, logLuv: 32845 } as const;
/** Values of SampleFormat. */
const numbers = { signed: 2, floating: 3 } as const;

/** Returns the name of an encoding that libvips misreads or refuses (libvips/foreign/tiff2vips.c). */
function unsupportedEncoding(page: TiffPixels): string | null {
  const { compression, bits, samples, colours, sampleFormat, separate, tiled } = page;
  if (tiled && compression === oldJpeg) return 'tiles of old-style JPEG';
  const name = compressions[compression];
  if (name !== undefined) return `${name} compression`;
  if (separate && tiled) return 'tiles in separate planes';
  if (samples > maxSamples) return `${samples} samples per pixel`;
  // LogLuv defines its own bits.
  if (colours === photometric.logLuv) return null;
  if (sampleFormat === numbers.floating) return 'floating-point samples';
  if (sampleFormat === numbers.signed) return 'signed samples';
  if (bits === 32) return '32-bit integers';
  const isLab = colours === photometric.lab;
  if (isLab && samples > 3) return 'L*a*b* colours with alpha';
  if (isLab && bits === 8) return '8-bit L*a*b* colours';
  const isPalette = colours === photometric.palette;
  if (isPalette && bits === 16) return 'a 16-bit palette';
  if (colours === photometric.ycc && compression !== newJpeg) {
    return 'YCbCr colours with a compression other than JPEG';
  }
  const isGrey = [null, photometric.white, photometric.black].some((grey) => grey === colours);
  const mayBeSmall = isPalette || (isGrey && samples === 1);
  if (bits === 8 || bits === 16 || (mayBeSmall && [1, 2, 4].includes(bits))) return null;
  return `${samples === 1 ? 'one sample' : `${samples} samples`} of ${bits} bits`;
}

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
  examine: examineWith({
    decoder: 'tiff',
    check: (source) => {
      const refused = unsupportedTiff(source);
      if (refused !== null) throw refused;
    },
  }),
};
