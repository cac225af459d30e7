import sharp from 'sharp';
import { plainVariant } from '../../variant.ts';
import { requirePixels, requireScans } from '../bounds.ts';
import { asBuffer } from '../bytes.ts';
import { openAs, withoutExcessMetadata } from '../container/container.ts';
import { corrupt, tooLarge } from '../errors.ts';
import { embeddedSize } from '../file.ts';
import { readHeif } from '../heif/header.ts';
import { isExaminedInProcess } from '../isolation.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import { readDocument, type SvgDocument } from './document.ts';
import { svgSize } from './root.ts';

/** The formats that librsvg draws; it leaves out the others. */
const drawn: ReadonlySet<string> = new Set(['jpeg', 'png']);

/** Maximum base64 bytes of all re-encoded images. */
const maxBytes = 100_000_000;

/**
 * Converts a document's embedded images to formats that librsvg draws. They are decoded completely
 * at any rendered size, so their pixels count like those in any source. The process limits bound
 * all other costs.
 *
 * @param rasters formats allowed for images in embedded drawings
 * @param spent the document's pixels so far, and bytes of its re-encoded images
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function withDrawnImages(
  { text, images }: Pick<SvgDocument, 'text' | 'images'>,
  rasters: readonly SourceFormat[],
  maxPixels: number,
  spent = { pixels: 0, bytes: 0 },
): Promise<string> {
  const known = new Map<string, string>();
  /** By start position, so that an element with two images gets a single size. */
  const edits = new Map<number, Edit>();
  for (const { format, bytes, url, urlAt, missing } of images) {
    const { vector } = format;
    const container = openAs(format, bytes);
    const drawing = vector ? await nestedDrawing(bytes, rasters, maxPixels, spent) : null;
    const { width, height } = drawing === null ? await embeddedSize(container) : svgSize(drawing);
    if (!vector) spendPixels(spent, container, width * height, maxPixels);
    if (!drawn.has(format.name)) {
      const again =
        known.get(url) ??
        (drawing === null
          ? await encodedAgain(container)
          : `data:image/svg+xml;base64,${drawing.toString('base64')}`);
      known.set(url, again);
      spent.bytes += again.length;
      if (spent.bytes > maxBytes) throw tooLarge('The images that the SVG embeds are too large.');
      edits.set(urlAt.from, { ...urlAt, text: again });
    }
    if (missing !== null) {
      // librsvg draws it with the height or width of the file.
      const { name, length, unit, at } = missing;
      const ratio = name === 'width' ? width / height : height / width;
      edits.set(at, { from: at, to: at, text: ` ${name}="${length * ratio}${unit}"` });
    }
  }
  return edited(text, [...edits.values()]);
}

function spendPixels(
  spent: { pixels: number },
  container: Container,
  pixels: number,
  maxPixels: number,
): void {
  spent.pixels += pixels;
  requirePixels(spent.pixels, maxPixels);
  requireScans(container, pixels, maxPixels);
}

/** The formats that all browsers draw. */
const browserFormats: ReadonlySet<string> = new Set(['avif', 'gif', 'jpeg', 'png', 'webp']);

/**
 * Returns the URLs of the document's images that browsers draw, without outer spaces. Chromium
 * decodes an image once, however often and at however many sizes it is drawn.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function findBrowserImages(
  { images }: Pick<SvgDocument, 'images'>,
  maxPixels: number,
): Promise<ReadonlySet<string>> {
  const urls = new Set<string>();
  const spent = { pixels: 0 };
  for (const { format, bytes, url } of images) {
    if (!browserFormats.has(format.name)) continue;
    const container = withoutExcessMetadata(openAs(format, bytes), plainVariant);
    // Browsers show the sequence in an AVIF with another brand, which can be larger.
    const isStill = format.name !== 'avif' || readHeif(bytes).brand === 'avif';
    if (isExaminedInProcess(container) || !isStill) {
      throw tooLarge(`The SVG embeds an image (${format.label}) that is too complex.`);
    }
    const { width, height } = await embeddedSize(container);
    const frames = Math.max(1, container.frames);
    // libvips ignores a GIF's screen if its size is unusual, and browsers do not.
    const screen = format.name === 'gif' ? readScreen(bytes) : 0;
    spendPixels(spent, container, Math.max(width * height, screen) * frames, maxPixels);
    urls.add(url.trim());
  }
  return urls;
}

/** Returns the pixels of a GIF's logical screen (GIF89a specification, 18). */
function readScreen(source: Uint8Array): number {
  const file = asBuffer(source);
  return file.readUInt16LE(6) * file.readUInt16LE(8);
}

/** Replaces a part of a text, or inserts. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const edit of [...edits].sort((a, b) => a.from - b.from)) {
    parts.push(text.slice(end, edit.from), edit.text);
    end = edit.to;
  }
  return [...parts, text.slice(end)].join('');
}

/** Returns a checked drawing from inside the drawing; it contains no more drawings. */
async function nestedDrawing(
  source: Uint8Array,
  rasters: readonly SourceFormat[],
  maxPixels: number,
  spent: { pixels: number; bytes: number },
): Promise<Buffer> {
  const text = await withDrawnImages(
    await readDocument(source, rasters),
    rasters,
    maxPixels,
    spent,
  );
  return Buffer.from(text);
}

/**
 * Returns a data: URL of the first frame as PNG, or as JPEG for a large opaque image, which would
 * be a large PNG.
 */
async function encodedAgain({ bytes, format }: Container): Promise<string> {
  try {
    const image = sharp(bytes, { limitInputPixels: false });
    const { width, height, hasAlpha } = await image.metadata();
    const isLarge = !hasAlpha && width * height > 1_000_000;
    const { data, info } = await (isLarge
      ? image.jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
      : image.png({ compressionLevel: 4 })
    ).toBuffer({ resolveWithObject: true });
    return `data:image/${info.format};base64,${data.toString('base64')}`;
  } catch (error) {
    throw corrupt(`The SVG embeds an image (${format.label}) that cannot be decoded.`, error);
  }
}
