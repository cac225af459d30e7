import { programUrl } from '../../../contract/own-files.ts';
import type { Size } from '../../geometry.ts';
import { checkedHeader } from '../file.ts';
import { withoutOrientation } from '../metadata/exif.ts';
import type { Container, SourceFacts } from '../source-format.ts';
import { loadModule, runDecoder } from '../wasm/run.ts';
import type { HeicTask } from './thread.ts';

const entry = programUrl('pool/formats/heic/thread');

/**
 * From this number of pixels on, decodes 10-bit and 12-bit samples to 8 bits, because up to 24
 * bytes per pixel would exceed a process's memory.
 */
const maxDeepPixels = 50_000_000;

/** Returns whether samples with more than 8 bits are decoded to 16. */
export const keepsDepth = ({ width, height }: Size): boolean => width * height <= maxDeepPixels;

/**
 * Decodes a HEIC image with libheif and libde265, which sharp's libvips lacks, and writes it as an
 * uncompressed PNG, because raw pixels cannot carry a profile. The image is upright, because
 * libheif applies the container's transformations.
 *
 * @param facts about the image, with a checked size
 * @param keepsMetadata true to include EXIF and XMP
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function heicAsPng(
  { bytes: source, format }: Container,
  { page, width, height, hasAlpha, colour }: SourceFacts,
  keepsMetadata: boolean,
): Promise<Uint8Array> {
  const { icc, exif, xmp, pagePrimary = 0 } = await checkedHeader(source, format, page);
  return await runDecoder<HeicTask>(entry, loadModule('libheif-js/libheif-wasm/libheif.wasm'), {
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
