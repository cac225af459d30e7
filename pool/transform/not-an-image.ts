import { ServiceError } from '../../contract/errors.ts';
import { sniff } from './sniff.ts';

/** What an origin delivered. */
interface Delivered {
  readonly bytes: Uint8Array;
  /** The media type that the origin named, `null` when it named none. */
  readonly contentType: string | null;
}

/**
 * Refuses bytes that are of no supported format, before they occupy a transform thread.
 * @throws ServiceError source_unsupported, with the content type
 */
export function requireImage({ bytes, contentType }: Delivered): void {
  if (sniff(bytes) !== null) return;
  const its =
    contentType === null ? 'it has no content type' : `its content type is ${contentType}`;
  throw notAnImage(bytes, `; ${its}`);
}

/** The error for bytes that are of no supported format. */
export function notAnImage(bytes: Uint8Array, more = ''): ServiceError {
  const is = isHtml(bytes) ? 'an HTML page' : 'not a JPEG, PNG, WebP, GIF, AVIF, TIFF or SVG';
  return new ServiceError('source_unsupported', `The source is ${is}${more}.`);
}

/** Most error and login pages say so at their beginning, whatever content type they come with. */
function isHtml(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 200));
  const byteOrderMark = '\xef\xbb\xbf';
  const text = head.toString('latin1').replace(byteOrderMark, '').trimStart();
  return /^<(?:!doctype\s+html|html)[\s>]/i.test(text);
}
