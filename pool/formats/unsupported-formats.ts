import type { ServiceError } from '../../contract/errors.ts';
import { bufferOf, type Matcher, textAt } from './bytes.ts';
import { unsupported } from './errors.ts';
import type { AllowedFormats } from './source-format.ts';
import { allFormats, isAllowed, readableFormats, recognise } from './source-formats.ts';

const pattern =
  (expected: RegExp): Matcher =>
  (head) =>
    expected.test(head);

const useImage = 'use an image';
const convert = 'convert it to JPEG, PNG or WebP';
const toneMap = 'tone-map it to JPEG, PNG or AVIF';
const deliverImage = 'let its address deliver the image, and not data about it or an error';
const unpack = 'unpack it, or deliver it with Content-Encoding: gzip';

const raw = textAt(0, 'FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'IIU\0');
const video = textAt(0, '\x1aE\xdf\xa3', '\0\0\x01\xb3', '\0\0\x01\xba');
const audio = textAt(0, 'ID3', 'fLaC', 'OggS');

/**
 * Recognised formats that are not supported, in order of precedence: signatures, one of which matches the
 * beginning of the file, and advice that completes "To use it: ...".
 */
const formats: readonly (readonly [string, readonly Matcher[], advice: string | null])[] = [
  // Most error and login pages, whatever their content type.
  ['an HTML page', [pattern(/^\s*<(?:!doctype\s+html|html)[\s>]/i)], null],
  ['a Photoshop document', [textAt(0, '8BPS')], 'export it as PNG, TIFF or JPEG'],
  ['a gzip file, such as a compressed SVG', [textAt(0, '\x1f\x8b')], unpack],
  ['a JPEG 2000 image', [textAt(0, '\0\0\0\x0cjP  \r\n', '\xff\x4f\xff\x51')], convert],
  ['a JPEG XR image', [textAt(0, 'II\xbc')], convert],
  ['a QOI image', [textAt(0, 'qoif')], convert],
  ['a Netpbm image', [pattern(/^P[1-7][\s#]/)], convert],
  ['a DDS texture', [textAt(0, 'DDS ')], convert],
  ['an OpenEXR image', [textAt(0, 'v/1\x01')], toneMap],
  ['a Radiance HDR image', [textAt(0, '#?RADIANCE', '#?RGBE')], toneMap],
  ['a camera raw file', [raw, textAt(4, 'ftypcrx ')], 'develop it to JPEG or TIFF'],
  ['a low-overhead HEIF image (mini)', [textAt(4, 'ftypmif3')], convert],
  [
    'a video',
    [video, textAt(4, 'ftyp'), textAt(8, 'AVI ')],
    'deliver one of its frames as an image',
  ],
  ['an audio file', [audio, textAt(8, 'WAVE')], useImage],
  ['a font', [textAt(0, 'wOFF', 'wOF2', 'OTTO', '\0\x01\0\0\0')], useImage],
  ['a ZIP archive or an office document', [textAt(0, 'PK\x03\x04')], useImage],
  ['an XML document', [pattern(/^\s*<\?xml/)], 'its root element must be svg'],
  ['a JSON document', [pattern(/^\s*[{[]["\s}\]{]/)], deliverImage],
];

const headBytes = 200;

/** The response with a source. */
interface SourceResponse {
  readonly bytes: Uint8Array;
  /** Null if the origin sent none. */
  readonly contentType: string | null;
}

/**
 * Refuses bytes of unsupported formats before they occupy a transform thread.
 * @throws ServiceError source_unsupported, with the content type
 */
export function requireSupportedFormat(
  { bytes, contentType }: SourceResponse,
  allowed: AllowedFormats,
): void {
  const format = recognise(bytes);
  if (format !== null && isAllowed(format, allowed)) return;
  const type =
    contentType === null ? 'it has no content type' : `its content type is ${contentType}`;
  const { setting } = format ?? {};
  throw setting === undefined
    ? unsupportedFormat(bytes, `; ${type}`, allowed)
    : unsupported(`The source is ${setting.refused}; ${type}. To use it: ${setting.advice}.`);
}

/** The error for bytes of an unsupported format: names the format and a remedy. */
export function unsupportedFormat(
  bytes: Uint8Array,
  details = '',
  allowed = allFormats,
): ServiceError {
  const head = bufferOf(bytes).subarray(0, headBytes);
  const text = head.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const format = formats.find(([, signatures]) =>
    signatures.some((matches) => matches(text, head)),
  );
  const [name, , advice] = format ?? [];
  const readable = readableFormats(allowed);
  const found = name ?? `not a ${readable.slice(0, -1).join(', ')} or ${readable.at(-1)}`;
  const remedy = advice ? ` To use it: ${advice}.` : '';
  return unsupported(`The source is ${found}${details}.${remedy}`);
}
