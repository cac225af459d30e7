import type { ServiceError } from '../../contract/errors.ts';
import { type Matcher, textAt } from './bytes.ts';
import { unsupported } from './errors.ts';
import type { SourceKind } from './kinds.ts';
import { optionalFormats, readableFormats } from './optional-formats.ts';
import { sniff } from './sniff.ts';

/** A recognised format that is not supported. */
interface UnsupportedFormat {
  readonly name: string;
  /** One of them matches the beginning of the file. */
  readonly signatures: readonly Matcher[];
  /** Completes "To use it: ...". */
  readonly advice: string | null;
}

const pattern =
  (expected: RegExp): Matcher =>
  (head) =>
    expected.test(head);

const useImage = 'use an image';
const convert = 'convert it to JPEG, PNG or WebP';
const toneMap = 'tone-map it to JPEG, PNG or AVIF';

/** In order of precedence. */
const formats: readonly UnsupportedFormat[] = [
  {
    // Most error and login pages, whatever their content type.
    name: 'an HTML page',
    signatures: [pattern(/^\s*<(?:!doctype\s+html|html)[\s>]/i)],
    advice: null,
  },
  {
    name: 'a PDF document',
    signatures: [textAt(0, '%PDF-')],
    advice: 'deliver its pages as images',
  },
  {
    name: 'a Photoshop document',
    signatures: [textAt(0, '8BPS')],
    advice: 'export it as PNG, TIFF or JPEG',
  },
  {
    name: 'a gzip file, such as a compressed SVG',
    signatures: [textAt(0, '\x1f\x8b')],
    advice: 'unpack it, or deliver it with Content-Encoding: gzip',
  },
  {
    name: 'a JPEG 2000 image',
    signatures: [textAt(0, '\0\0\0\x0cjP  \r\n', '\xff\x4f\xff\x51')],
    advice: convert,
  },
  { name: 'a JPEG XR image', signatures: [textAt(0, 'II\xbc')], advice: convert },
  { name: 'a QOI image', signatures: [textAt(0, 'qoif')], advice: convert },
  { name: 'a Netpbm image', signatures: [pattern(/^P[1-7][\s#]/)], advice: convert },
  { name: 'a DDS texture', signatures: [textAt(0, 'DDS ')], advice: convert },
  { name: 'an OpenEXR image', signatures: [textAt(0, 'v/1\x01')], advice: toneMap },
  {
    name: 'a Radiance HDR image',
    signatures: [textAt(0, '#?RADIANCE', '#?RGBE')],
    advice: toneMap,
  },
  {
    name: 'a camera raw file',
    signatures: [textAt(0, 'FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'IIU\0'), textAt(4, 'ftypcrx ')],
    advice: 'develop it to JPEG or TIFF',
  },
  {
    name: 'a video',
    signatures: [
      textAt(0, '\x1aE\xdf\xa3', '\0\0\x01\xb3', '\0\0\x01\xba'),
      textAt(4, 'ftyp'),
      textAt(8, 'AVI '),
    ],
    advice: 'deliver one of its frames as an image',
  },
  {
    name: 'an audio file',
    signatures: [textAt(0, 'ID3', 'fLaC', 'OggS'), textAt(8, 'WAVE')],
    advice: useImage,
  },
  {
    name: 'a font',
    signatures: [textAt(0, 'wOFF', 'wOF2', 'OTTO', '\0\x01\0\0\0')],
    advice: useImage,
  },
  {
    name: 'a ZIP archive or an office document',
    signatures: [textAt(0, 'PK\x03\x04')],
    advice: useImage,
  },
  {
    name: 'an XML document',
    signatures: [pattern(/^\s*<\?xml/)],
    advice: 'its root element must be svg',
  },
  {
    name: 'a JSON document',
    signatures: [pattern(/^\s*[{[]["\s}\]{]/)],
    advice: 'let its address deliver the image, and not data about it or an error',
  },
];

const headBytes = 200;

/** The response of an origin. */
interface Delivered {
  readonly bytes: Uint8Array;
  /** Null if the origin sent none. */
  readonly contentType: string | null;
}

/**
 * Refuses bytes of unsupported formats before they occupy a transform thread.
 * @throws ServiceError source_unsupported, with the content type
 */
export function requireSupportedFormat({ bytes, contentType }: Delivered): void {
  const kind = sniff(bytes);
  if (kind === 'jxl' && !optionalFormats().jxl) throw missingDecoder(kind);
  if (kind !== null) return;
  const type =
    contentType === null ? 'it has no content type' : `its content type is ${contentType}`;
  throw unsupportedFormat(bytes, `; ${type}`);
}

/** The error for bytes of an unsupported format: names the format and a remedy. */
export function unsupportedFormat(bytes: Uint8Array, details = ''): ServiceError {
  const length = Math.min(bytes.byteLength, headBytes);
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1');
  const text = head.replace(/^\xef\xbb\xbf/, '');
  const format = formats.find(({ signatures }) => signatures.some((matches) => matches(text)));
  const readable = readableFormats();
  const alternatives = `${readable.slice(0, -1).join(', ')} or ${readable.at(-1)}`;
  const advice = format?.advice ? ` To use it: ${format.advice}.` : '';
  return unsupported(
    `The source is ${format?.name ?? `not a ${alternatives}`}${details}.${advice}`,
  );
}

const optional = {
  heif: ['an HEIC image (HEVC in HEIF)', 'libheif and libde265'],
  jxl: ['a JPEG XL image', 'libjxl'],
} as const satisfies Partial<Record<SourceKind, readonly [name: string, library: string]>>;

/** The error for a format that the installed libvips cannot decode. */
export function missingDecoder(kind: keyof typeof optional): ServiceError {
  const [name, library] = optional[kind];
  return unsupported(
    `The source is ${name}. That needs a libvips with ${library}, which this service does not have; it reads ${readableFormats().join(', ')}.`,
  );
}
