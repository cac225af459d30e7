import { unsupported } from '../errors.ts';
import { sniff } from '../sniff.ts';

/** More than real SVGs have, and few enough to inspect quickly. */
export const maxEmbedded = 256;

export const unreadableImage = () =>
  unsupported(
    'The SVG embeds an image that is not a JPEG, PNG, GIF, WebP or AVIF, or too many images.',
  );

/**
 * The bytes of an image embedded as a data: URL (RFC 2397, parsed as leniently as in the Fetch standard); null for
 * another URL and for one without bytes.
 *
 * @throws ServiceError source_unsupported for data that is not an image
 */
export function dataUrlImage(value: string): Uint8Array | null {
  // The URL Standard removes these characters before it parses.
  const url = value.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '');
  const comma = url.indexOf(',');
  if (!/^data:/i.test(url) || comma === -1) return null;
  const type = url.slice('data:'.length, comma);
  if (/svg|xml/i.test(type)) throw unreadableImage();
  const body = url.slice(comma + 1).replace(/%([0-9a-f]{2})/gi, (_, hex) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  const bytes = Buffer.from(body, /;\s*base64\s*$/i.test(type) ? 'base64' : 'latin1');
  if (bytes.byteLength === 0) return null;
  const kind = sniff(bytes);
  if (kind === null || kind === 'svg') throw unreadableImage();
  return bytes;
}
