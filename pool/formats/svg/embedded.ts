import { unsupported } from '../errors.ts';
import { sniff } from '../sniff.ts';
import type { SvgDocument, SvgElement } from './document.ts';

/** More than real SVGs have, and few enough to inspect quickly. */
const maxEmbedded = 256;

/** Elements that render the image at their URL. */
const imageElements: ReadonlySet<string> = new Set(['image', 'feImage']);

/** Other elements whose URL librsvg follows. */
export const referringElements: ReadonlySet<string> = new Set([
  'use',
  'pattern',
  'tref',
  'linearGradient',
  'radialGradient',
]);

/**
 * Images embedded as data: URLs, in document order. librsvg decodes them completely, at any rendered size: a
 * document of 40 KB can need gigabytes.
 *
 * @throws ServiceError source_unsupported for embedded data that is not an image, or not in an image
 *   element
 */
export function embeddedImages({ elements }: SvgDocument): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const element of elements) {
    if (referringElements.has(element.name)) element.hrefs.forEach(refuseDataUrl);
    if (!imageElements.has(element.name)) continue;
    for (const url of imageUrls(element)) {
      const bytes = dataUrlBytes(url);
      if (bytes === null || bytes.byteLength === 0) continue;
      const kind = sniff(bytes);
      if (kind === null || kind === 'svg' || found.length === maxEmbedded) throw unreadable();
      found.push(bytes);
    }
  }
  return found;
}

/** @throws ServiceError source_unsupported for a data: URL where images are not allowed */
export function refuseDataUrl(url: string): void {
  if (!isDataUrl(normalized(url))) return;
  throw unsupported('The SVG embeds a document or style sheet in a data: URL.');
}

/** Includes `path`, which old versions of Illustrator write and librsvg reads. */
const imageUrls = ({ hrefs, attributes }: SvgElement): string[] =>
  [...hrefs, attributes.get('path')].filter((url) => url !== undefined);

function unreadable() {
  return unsupported(
    'The SVG embeds an image that is not a JPEG, PNG, GIF, WebP or AVIF, or too many images.',
  );
}

/** Removes the characters that the URL Standard removes before parsing. */
function normalized(url: string): string {
  return url.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '');
}

const isDataUrl = (url: string): boolean => /^data:/i.test(url);

/** The body of a data: URL (RFC 2397, parsed as leniently as in the Fetch standard), else null. */
function dataUrlBytes(value: string): Uint8Array | null {
  const url = normalized(value);
  const comma = url.indexOf(',');
  if (!isDataUrl(url) || comma === -1) return null;
  const type = url.slice('data:'.length, comma);
  if (/svg|xml/i.test(type)) throw unreadable();
  const body = url.slice(comma + 1).replace(/%([0-9a-f]{2})/gi, (_, hex) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(body, /;\s*base64\s*$/i.test(type) ? 'base64' : 'latin1');
}
