import { scaledSize } from '../../geometry.ts';
import { requirePage, requireRasterisable } from '../bounds.ts';
import { textAt } from '../bytes.ts';
import { plainFacts, rawFile, rawInput } from '../raw-pixels.ts';
import type { SourceFormat } from '../source-format.ts';
import { drawPdf, readPdf } from './decode.ts';

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
    advice: 'deliver its pages as images, or let the operator set SERVICE_PDF=on',
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
