import type { ServiceError } from '../../contract/errors.ts';
import { avif } from './avif/format.ts';
import { bmp } from './bmp/format.ts';
import { asBuffer, type Matcher, matching, textAt } from './bytes.ts';
import { openAs } from './container/container.ts';
import { unsupported } from './errors.ts';
import { gif } from './gif/format.ts';
import { heic } from './heic/format.ts';
import { ico } from './ico/format.ts';
import { jpeg } from './jpeg/format.ts';
import { jxl } from './jxl/format.ts';
import { pdf } from './pdf/format.ts';
import { png } from './png/format.ts';
import type { AllowedFormats, Container, SourceFormat } from './source-format.ts';
import { svg } from './svg/format.ts';
import { tiff } from './tiff/format.ts';
import { webp } from './webp/format.ts';

/** The supported source formats. The first format that recognises the bytes applies. */
export const sourceFormats: readonly SourceFormat[] = [
  jpeg,
  png,
  webp,
  gif,
  avif,
  heic,
  tiff,
  svg,
  bmp,
  ico,
  pdf,
  jxl,
];

/**
 * Recognises a source's format by its first bytes, whatever its content type; returns null if
 * unsupported. Decoders receive only sources in their own format, so hostile bytes reach no other
 * decoder.
 */
export const recognise = (source: Uint8Array): SourceFormat | null =>
  matching(sourceFormats, source);

/**
 * Recognises a source's format, and examines its parts before sharp or any parser opens it.
 *
 * @throws ServiceError source_unsupported for an unsupported format, source_too_large for too
 *   many parts
 */
export function openContainer(source: Uint8Array): Container {
  const format = recognise(source);
  if (format === null) throw unsupportedFormat(source);
  return openAs(format, source);
}

/** File extensions of sources. */
export const sourceExtensions: readonly string[] = sourceFormats.flatMap(
  ({ extensions }) => extensions,
);

/** The libvips loaders that only processes can use. */
export const isolatedLoaders: readonly string[] = sourceFormats.flatMap(
  ({ isolatedLoader }) => isolatedLoader ?? [],
);

export const allFormats: AllowedFormats = Object.fromEntries(
  sourceFormats.flatMap(({ setting }) => (setting === undefined ? [] : [[setting.name, true]])),
);

const isAllowed = ({ setting }: SourceFormat, allowed: AllowedFormats): boolean =>
  setting === undefined || allowed[setting.name] === true;

/** Names of the source formats that this service reads. */
export const readableFormats = (allowed: AllowedFormats): string[] =>
  sourceFormats
    .filter((format) => isAllowed(format, allowed))
    .map(({ label, listedAs }) => listedAs ?? label);

const pattern =
  (expected: RegExp): Matcher =>
  (head) =>
    expected.test(head);

/** As in the MIME Sniffing Standard of WHATWG, 7.1, and elements that only a head contains. */
const htmlStart =
  /^\s*<(?:!--|(?:!doctype\s+html|html|head|title|meta|link|style|script|body|h1|div|p|table|iframe|font|br|a|b)[\s/>])/i;
const useImage = 'use an image';
const convert = 'convert it to JPEG, PNG or WebP';
const toneMap = 'tone-map it to JPEG, PNG or AVIF';
const deliverImage = 'make the URL return the image itself, not JSON or an error page';
const unpack = 'unpack it, or deliver it with Content-Encoding: gzip';

const raw = textAt(0, 'FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'IIU\0');
const video = textAt(0, '\x1aE\xdf\xa3', '\0\0\x01\xb3', '\0\0\x01\xba');
const audio = textAt(0, 'ID3', 'fLaC', 'OggS');

/**
 * Recognised but unsupported formats, in order of precedence: signatures, any of which matches the
 * file's start, and advice that completes "To use it: ...".
 */
const unsupportedFormats: readonly (readonly [
  string,
  readonly Matcher[],
  advice: string | null,
])[] = [
  // Most error and login pages, whatever their content type.
  ['an HTML page', [pattern(htmlStart)], null],
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
  [
    'an XML document',
    [pattern(/^\s*<\?xml/)],
    'its root element must be svg and start within the first 64 KiB',
  ],
  ['a JSON document', [pattern(/^\s*[{[]["\s}\]{]/)], deliverImage],
];

const headBytes = 200;

/** The response with a source. */
interface SourceResponse {
  readonly bytes: Uint8Array;
  /** Null if the origin sent no content type. */
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

/** Returns the error for bytes of an unsupported format, which names the format and a remedy. */
function unsupportedFormat(bytes: Uint8Array, details = '', allowed = allFormats): ServiceError {
  const head = asBuffer(bytes).subarray(0, headBytes);
  const text = head.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const format = unsupportedFormats.find(([, signatures]) =>
    signatures.some((matches) => matches(text, head)),
  );
  const [name, , advice] = format ?? [];
  const readable = readableFormats(allowed);
  const found = name ?? `not a ${readable.slice(0, -1).join(', ')} or ${readable.at(-1)}`;
  const remedy = advice ? ` To use it: ${advice}.` : '';
  return unsupported(`The source is ${found}${details}.${remedy}`);
}
