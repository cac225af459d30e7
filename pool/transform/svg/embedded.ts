import { sniff } from '../sniff.ts';
import { type SvgDocument, type SvgElement, unsupported } from './document.ts';

/** More than an SVG has, fewer than take long to look at. */
const maxEmbedded = 256;

/** Elements that show the picture behind their address. */
const pictureElements: ReadonlySet<string> = new Set(['image', 'feImage']);

/** Other elements whose address the decoder follows. */
export const referringElements: ReadonlySet<string> = new Set([
  ...['use', 'pattern', 'tref', 'linearGradient', 'radialGradient'],
]);

/**
 * Pictures that are embedded as data: URLs, in the order in which they appear: librsvg decodes them
 * as a whole whatever size they are shown in, and a 40 KB document can ask for gigabytes.
 *
 * @throws ServiceError source_unsupported for what is embedded and is no picture, or elsewhere
 */
export function embeddedPictures({ elements }: SvgDocument): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const element of elements) {
    if (referringElements.has(element.name)) element.hrefs.forEach(refuseDataUrl);
    if (!pictureElements.has(element.name)) continue;
    for (const address of pictureAddresses(element)) {
      const bytes = dataUrlBytes(address);
      if (bytes === null || bytes.byteLength === 0) continue;
      const kind = sniff(bytes);
      if (kind === null || kind === 'svg' || found.length === maxEmbedded) throw unreadable();
      found.push(bytes);
    }
  }
  return found;
}

/** @throws ServiceError source_unsupported for a data: URL where no picture may stand */
export function refuseDataUrl(url: string): void {
  if (!isDataUrl(normalized(url))) return;
  throw unsupported('The SVG embeds a document or style sheet in a data: URL.');
}

/** Some old versions of Illustrator write `path`, which the decoder reads too. */
function pictureAddresses({ hrefs, attributes }: SvgElement): string[] {
  const path = attributes.get('path');
  return path === undefined ? [...hrefs] : [...hrefs, path];
}

function unreadable() {
  return unsupported(
    'The SVG embeds a picture that is not a plain JPEG, PNG, GIF, WebP or AVIF, or too many.',
  );
}

/** As the URL Standard has it before a URL is parsed. */
function normalized(url: string): string {
  return url.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '');
}

function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/** The body of a data: URL (RFC 2397, read as leniently as the Fetch standard does), else null. */
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
