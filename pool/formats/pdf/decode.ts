import { programUrl } from '../../../contract/own-files.ts';
import type { Size } from '../../geometry.ts';
import { corrupt } from '../errors.ts';
import type { RawPixels } from '../raw-pixels.ts';
import { loadModule, runDecoder } from '../wasm/run.ts';
import type { PdfSize, PdfTask } from './thread.ts';

const entry = programUrl('pool/formats/pdf/thread');

const run = (task: PdfTask): Promise<Uint8Array<ArrayBuffer>> =>
  runDecoder(entry, loadModule('@embedpdf/pdfium/pdfium.wasm'), task);

/** CSS pixels of a point. */
const pixelsOfPoint = 96 / 72;

/**
 * Returns a PDF's page count, and a page's upright size in CSS pixels.
 *
 * @param page from 0
 * @throws ServiceError source_unsupported for an encrypted PDF, source_corrupt, source_too_large
 */
export async function readPdf(source: Uint8Array, page: number): Promise<PdfSize> {
  const bytes = await run({ source, page, raster: null });
  const { pages, width, height }: PdfSize = JSON.parse(Buffer.from(bytes).toString());
  if (pages === 0 || (page < pages && !(width > 0 && height > 0))) {
    throw corrupt('The PDF has no page with a size.');
  }
  return { pages, width: width * pixelsOfPoint, height: height * pixelsOfPoint };
}

/**
 * Draws a PDF page on white.
 *
 * @param size in pixels
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function drawPdf(source: Uint8Array, page: number, size: Size): Promise<RawPixels> {
  const data = await run({ source, page, raster: size });
  return { data: Buffer.from(data.buffer), ...size, channels: 3 };
}
