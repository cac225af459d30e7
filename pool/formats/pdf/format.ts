import { programUrl } from '../../../contract/package.ts';
import { type Size, scaledSize } from '../../geometry.ts';
import { requirePage, requireRasterisable } from '../bounds.ts';
import { textAt } from '../bytes.ts';
import { corrupt } from '../errors.ts';
import { plainFacts, type RawPixels, rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';
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
async function readPdf(source: Uint8Array, page: number): Promise<PdfSize> {
  const bytes = await run({ source, page, raster: null });
  const { pages, width, height }: PdfSize = JSON.parse(Buffer.from(bytes).toString());
  if (pages === 0 || (page < pages && !(width > 0 && height > 0))) {
    throw corrupt('The PDF has no page with a valid size.');
  }
  return { pages, width: width * pixelsOfPoint, height: height * pixelsOfPoint };
}

/**
 * Draws a PDF page on white.
 *
 * @param size in pixels
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
async function drawPdf(source: Uint8Array, page: number, size: Size): Promise<RawPixels> {
  const data = await run({ source, page, raster: size });
  return { data: Buffer.from(data.buffer), ...size, channels: 3 };
}

const label = 'PDF';

/** PDF: PDFium draws one page on white, at the required size. */
export const pdf: SourceFormat = {
  ...rawFile,
  name: 'pdf',
  label,
  extensions: ['pdf'],
  matches: textAt(0, '%PDF-'),
  setting: {
    name: 'pdf',
    refused: 'a PDF document',
    advice: 'deliver its pages as images, or ask the operator to set SERVICE_PDF=on',
  },
  vector: true,
  cost: { ms: 0, bytes: 0 },
  weigh: () => null,
  examine: async (file, { sourceMaxPixels }, { page }) => {
    const { pages, ...size } = await readPdf(file.bytes, page ?? 0);
    if (page !== null) requirePage(page, pages);
    requireRasterisable(size, label, sourceMaxPixels);
    const facts = { ...size, ...plainFacts, format: file.format, pages, page, hasAlpha: false };
    return { file, facts };
  },
  open: async ({ file, facts, scale }) =>
    rawInput(await drawPdf(file.bytes, facts.page ?? 0, scaledSize(facts, scale ?? 1))),
};
