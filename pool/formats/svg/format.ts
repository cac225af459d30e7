import { avif } from '../avif/format.ts';
import { examineFile, type FileTraits, libvipsFile } from '../file.ts';
import { gif } from '../gif/format.ts';
import { jpeg } from '../jpeg/format.ts';
import { png } from '../png/format.ts';
import type { SourceFormat } from '../source-format.ts';
import { tiff } from '../tiff/format.ts';
import { webp } from '../webp/format.ts';
import { decodeXml, mayBeXml, readDocument, type SvgDocument } from './document.ts';
import { withDrawnImages } from './images.ts';
import { findBackground, sizedSvg, svgDensity, svgRoot, svgSize, withBackground } from './root.ts';

/** Formats of embedded images, in addition to SVG. */
const rasters: readonly SourceFormat[] = [jpeg, png, gif, webp, tiff, avif];

/**
 * libvips recognises an SVG by `<svg` in its first 1,000 bytes, the first 24 of which must be
 * ASCII.
 */
const signature = '<!-- <svg> in UTF-8 -->\n';

/** Reads a document and its images. @throws ServiceError as `readDocument` */
export const readSvg = (bytes: Uint8Array): Promise<SvgDocument> =>
  readDocument(bytes, [...rasters, svg]);

/** SVG, which librsvg draws at the required size. */
export const svg: SourceFormat = {
  ...libvipsFile,
  name: 'svg',
  label: 'SVG',
  extensions: ['svg'],
  matches: (text, head) => mayBeXml(text) && svgRoot(decodeXml(head, { isCut: true })) !== null,
  runsIn: 'process',
  isolatedLoader: 'VipsForeignLoadSvg',
  drawsLetters: true,
  vector: true,
  cost: { ms: 0, bytes: 0 },
  container: null,
  // Disables libxml2's limits, such as 10 MB per embedded image: `readDocument` and the process set
  // limits.
  options: { density: svgDensity, unlimited: true },
  uninterruptible: true,
  weigh: () => null,
  examine: async (file, limits, options) => {
    const document = await readSvg(file.bytes);
    const text = await withDrawnImages(document, rasters, limits.sourceMaxPixels);
    const written = Buffer.from(signature + text);
    const size = svgSize(written);
    // libvips rounds a drawing's header to whole pixels.
    const scale = Math.max(1, 2 / Math.min(size.width, size.height));
    const colour = findBackground(document.style);
    const filled = colour === null ? written : withBackground(written, size, colour);
    const drawing = { ...file, bytes: sizedSvg(filled, size, scale) };
    const traits: FileTraits = { decoder: 'svg', exactSize: () => size };
    const { facts } = await examineFile(drawing, limits, options, traits);
    return { file: drawing, facts };
  },
  open: (opening) => {
    const { file, facts, scale } = opening;
    const bytes = sizedSvg(file.bytes, facts, scale ?? 1);
    return libvipsFile.open({ ...opening, file: { ...file, bytes } });
  },
};
