import { avif } from '../avif/format.ts';
import { requirePixels, requireScans } from '../bounds.ts';
import { openAs } from '../container/container.ts';
import { embeddedSize, examineFile, type FileTraits, libvipsFile } from '../file.ts';
import { gif } from '../gif/format.ts';
import { heic } from '../heic/format.ts';
import { jpeg } from '../jpeg/format.ts';
import { png } from '../png/format.ts';
import type { SourceFormat } from '../source-format.ts';
import { tiff } from '../tiff/format.ts';
import { webp } from '../webp/format.ts';
import { backgroundOf, withBackground } from './background.ts';
import { readDocument, type SvgDocument } from './document.ts';
import { decodeXml, mayBeXml } from './encoding.ts';
import { svgRoot } from './root.ts';
import { sizedSvg, svgDensity, svgSize } from './size.ts';

/** Formats of embedded images. */
const embeddable: readonly SourceFormat[] = [jpeg, png, gif, webp, tiff, avif, heic];

/** libvips recognises an SVG by `<svg` in its first 1,000 bytes, the first 24 of which must be ASCII. */
const signature = '<!-- <svg> in UTF-8 -->\n';

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
  options: { density: svgDensity },
  uninterruptible: true,
  weigh: () => null,
  examine: async (file, limits, options) => {
    const { text, images, sheets, style } = readDocument(file.bytes, embeddable);
    await requireEmbedded(images, limits.sourceMaxPixels);
    const written = Buffer.from(signature + text);
    const size = svgSize(written);
    // libvips reads the header of a drawing with whole pixels.
    const scale = Math.max(1, 2 / Math.min(size.width, size.height));
    const colour = backgroundOf(sheets, style);
    const filled = colour === null ? written : withBackground(written, size, colour);
    const document = { ...file, bytes: sizedSvg(filled, size, scale) };
    const traits: FileTraits = { decoder: 'svg', sizeOf: () => size };
    const { facts } = await examineFile(document, limits, options, traits);
    return { file: document, facts };
  },
  open: (opening) => {
    const { file, facts, scale } = opening;
    const bytes = sizedSvg(file.bytes, facts, scale ?? 1);
    return libvipsFile.open({ ...opening, file: { ...file, bytes } });
  },
};

/**
 * Embedded images are decoded completely, at any rendered size, so their pixels count like those of any source. What
 * a document costs otherwise, the limits of the process bound.
 */
async function requireEmbedded(images: SvgDocument['images'], maxPixels: number): Promise<void> {
  let pixels = 0;
  for (const { format, bytes } of images) {
    const container = openAs(format, bytes);
    const { width, height } = await embeddedSize(container);
    pixels += width * height;
    requirePixels(pixels, maxPixels);
    requireScans(container, width * height, maxPixels);
  }
}
