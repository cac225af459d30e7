import { EngineFailure } from '../failure.ts';
import { sniff } from './sniff.ts';

/** What a drawing would cost beyond the size of its output. */
export interface DrawingCost {
  /** Pictures that are embedded as data: URLs, in the order in which they appear. */
  readonly embedded: readonly Uint8Array[];
  /** Upper bound of the surfaces of the output's size that filters hold at one time. */
  readonly surfaces: number;
}

/**
 * Finds what makes a small SVG expensive: librsvg loads nothing from outside the document, but it
 * decodes embedded pictures of any size as a whole (a 40 KB document can ask for gigabytes), draws
 * embedded SVGs, and keeps every result of a filter until the filter is done.
 *
 * A search for literal text is enough, since names of elements cannot be escaped in XML, what
 * `sniff` lets through declares no entities, and `<` cannot stand in an attribute's value.
 *
 * @throws EngineFailure source_unsupported for what could not be judged.
 */
export function drawingCost(source: Uint8Array): DrawingCost {
  const text = Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString('latin1');
  return { embedded: embeddedPictures(text), surfaces: filterSurfaces(text) };
}

/** More than a drawing has, fewer than take long to look at. */
const maxEmbedded = 256;

const pictureTagStart = /<(?:[^\s<>/:"'=]+:)?(?:image|feImage)[\s/>]/g;
const pictureTag =
  /<(?:[^\s<>/:"'=]+:)?(?:image|feImage)(?=[\s/>])((?:"[^"<]*"|'[^'<]*'|[^'"<>])*)>/g;
const hrefAttribute = /(?:^|[\s:"'])href\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function embeddedPictures(text: string): Uint8Array[] {
  const starts = text.match(pictureTagStart)?.length ?? 0;
  const tags = [...text.matchAll(pictureTag)];
  if (tags.length !== starts || starts > maxEmbedded) throw unreadablePicture();
  const found: Uint8Array[] = [];
  for (const [, attributes = ''] of tags) {
    for (const [, double, single] of attributes.matchAll(hrefAttribute)) {
      const bytes = dataUrlBytes(unescapeCharacters(double ?? single ?? ''));
      if (bytes === null || bytes.byteLength === 0) continue;
      const kind = sniff(bytes);
      if (kind === null || kind === 'svg') throw unreadablePicture();
      found.push(bytes);
    }
  }
  return found;
}

function unreadablePicture(): EngineFailure {
  return new EngineFailure(
    'source_unsupported',
    'The SVG embeds a picture that is not a plain JPEG, PNG, GIF, WebP or AVIF.',
  );
}

/** Character references, which exporters write for the line breaks in base64. */
function unescapeCharacters(value: string): string {
  return value.replace(/&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi, (_, hex, decimal) => {
    const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    return code <= 0xff ? String.fromCharCode(code) : '\u{fffd}';
  });
}

/** The body of a data: URL (RFC 2397, read as leniently as the Fetch standard does), else null. */
function dataUrlBytes(value: string): Uint8Array | null {
  const url = value.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '');
  const comma = url.indexOf(',');
  if (!/^data:/i.test(url) || comma === -1) return null;
  const type = url.slice('data:'.length, comma);
  if (/svg|xml/i.test(type)) throw unreadablePicture();
  const body = url.slice(comma + 1).replace(/%([0-9a-f]{2})/gi, (_, hex) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(body, /;\s*base64\s*$/i.test(type) ? 'base64' : 'latin1');
}

function filterSurfaces(text: string): number {
  const primitive = /<(?:[^\s<>/:"'=]+:)?fe[A-Z]/g;
  const all = text.match(primitive)?.length ?? 0;
  // feImage can draw an element that has a filter of its own, so results of several filters can be
  // alive together; without it one filter ends before the next begins.
  if (/<(?:[^\s<>/:"'=]+:)?feImage[\s/>]/.test(text)) return all;
  const filters = text.split(/<(?:[^\s<>/:"'=]+:)?filter[\s/>]/).slice(1);
  return filters.reduce((most, part) => Math.max(most, part.match(primitive)?.length ?? 0), 0);
}
