import sharp from 'sharp';
import { requirePixels, requireScans } from '../bounds.ts';
import { openAs } from '../container/container.ts';
import { corrupt, tooLarge, unsupported } from '../errors.ts';
import { embeddedSize } from '../file.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import { readDocument, type SvgDocument } from './document.ts';
import { svgSize } from './size.ts';

/** The formats that librsvg draws; it leaves out the others. */
const drawn: ReadonlySet<string> = new Set(['jpeg', 'png']);

/** Bytes of all images that are encoded again, in base64. */
const maxBytes = 100_000_000;

/**
 * Returns the text of a document with the embedded images in formats that librsvg draws. They are decoded completely, at any
 * rendered size, so their pixels count like those of any source. What a document costs otherwise, the limits of the
 * process bound.
 *
 * @param rasters the formats of images in embedded drawings
 * @param spent pixels, and bytes of images that were encoded again, of the whole document
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function withDrawnImages(
  { text, images }: Pick<SvgDocument, 'text' | 'images'>,
  rasters: readonly SourceFormat[],
  maxPixels: number,
  spent = { pixels: 0, bytes: 0 },
): Promise<string> {
  const urls = new Map<string, string>();
  const parts: string[] = [];
  let from = 0;
  for (const { format, bytes, url, openSide } of images) {
    const { vector } = format;
    const container = openAs(format, bytes);
    const drawing = vector ? await nestedDrawing(bytes, rasters, maxPixels, spent) : null;
    const { width, height } = drawing === null ? await embeddedSize(container) : svgSize(drawing);
    if (!vector) {
      spent.pixels += width * height;
      requirePixels(spent.pixels, maxPixels);
      requireScans(container, width * height, maxPixels);
    }
    if (openSide !== null && openSide.at > from) {
      // librsvg draws it with the height or width of the file.
      const { name, length, unit, at } = openSide;
      const ratio = name === 'width' ? width / height : height / width;
      parts.push(text.slice(from, at), ` ${name}="${length * ratio}${unit}"`);
      from = at;
    }
    const key = compact(url);
    if (drawn.has(format.name) || urls.has(key)) continue;
    const again =
      drawing === null
        ? await encodedAgain(container)
        : `data:image/svg+xml;base64,${drawing.toString('base64')}`;
    spent.bytes += again.length;
    if (spent.bytes > maxBytes) throw tooLarge('The images that the SVG embeds are too large.');
    urls.set(key, again);
  }
  const sized = [...parts, text.slice(from)].join('');
  return urls.size === 0 ? sized : withUrls(sized, urls);
}

/** A drawing inside of the drawing, as it was checked; it has no other drawings. */
async function nestedDrawing(
  source: Uint8Array,
  rasters: readonly SourceFormat[],
  maxPixels: number,
  spent: { pixels: number; bytes: number },
): Promise<Buffer> {
  const text = await withDrawnImages(readDocument(source, rasters), rasters, maxPixels, spent);
  return Buffer.from(text);
}

/** A data: URL of the first frame, as PNG, or as JPEG for a large picture without alpha, which would be a large PNG. */
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

/** Attributes that may have a data: URL. */
const urlAttribute = /(\s(?:[\w.-]{1,100}:)?(?:href|path)\s{0,100}=\s{0,100})("[^"]*"|'[^']*')/g;

/** @throws ServiceError source_unsupported for a URL that is written in another way */
function withUrls(text: string, urls: ReadonlyMap<string, string>): string {
  const replaced = new Set<string>();
  const changed = text.replace(urlAttribute, (attribute, name: string, quoted: string) => {
    const key = compact(unescaped(quoted.slice(1, -1)));
    const url = urls.get(key);
    if (url === undefined) return attribute;
    replaced.add(key);
    return `${name}"${url}"`;
  });
  if (replaced.size === urls.size) return changed;
  throw unsupported('The SVG embeds an image with a data: URL that is written in an unusual way.');
}

/** White space has no meaning in data: URLs of images, and parsers change it in attributes. */
const compact = (url: string): string => url.replaceAll(/\s/g, '');

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescaped = (text: string): string =>
  text.replaceAll(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (all, hex, decimal, name) => {
      if (name !== undefined) return named[name] ?? all;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
