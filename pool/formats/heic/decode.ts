import { programUrl } from '../../../contract/own-files.ts';
import type { Size } from '../../geometry.ts';
import { checkedHeader } from '../file.ts';
import { withoutOrientation } from '../metadata/exif.ts';
import type { Container, SourceFacts } from '../source-format.ts';
import { moduleOf, runDecoder } from '../wasm/run.ts';
import type { HeicTask } from './thread.ts';

const entry = programUrl('pool/formats/heic/thread');

/**
 * From this number of pixels on, samples of 10 and 12 bits are decoded to 8: up to 24 bytes for each pixel would not
 * fit in the memory of a process.
 */
const maxDeepPixels = 50_000_000;

/** True if samples of more than 8 bits are decoded to 16. */
export const keepsDepth = ({ width, height }: Size): boolean => width * height <= maxDeepPixels;

/**
 * Decodes an image of a HEIC with libheif and libde265, which sharp's libvips does not have, and writes it as an
 * uncompressed PNG: raw pixels would have no profile. The image is upright, because libheif applies the
 * transformations of the container.
 *
 * @param facts of the image, whose size was checked
 * @param keepsMetadata true to include EXIF and XMP
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function heicAsPng(
  { bytes: source, format }: Container,
  { page, width, height, hasAlpha, colour }: SourceFacts,
  keepsMetadata: boolean,
): Promise<Uint8Array> {
  const { icc, exif, xmp, pagePrimary = 0 } = await checkedHeader(source, format, page);
  return await runDecoder<HeicTask>(entry, moduleOf('libheif-js/libheif-wasm/libheif.wasm'), {
    source,
    page: page ?? pagePrimary,
    form: { width, height, channels: hasAlpha ? 4 : 3, bits: colour.is16Bit ? 16 : 8 },
    metadata: {
      icc,
      exif: keepsMetadata && exif !== undefined ? withoutOrientation(exif) : undefined,
      xmp: keepsMetadata ? xmp : undefined,
    },
  });
}
