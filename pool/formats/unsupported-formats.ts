import { ServiceError } from '../../contract/errors.ts';
import type { SourceKind } from './kinds.ts';
import { optionalFormats, readableFormats } from './optional-formats.ts';
import { sniff } from './sniff.ts';

/** A format that is recognised, to say what was found and what would be needed; none is read. */
interface Foreign {
  readonly name: string;
  /** Texts in Latin-1 that a file begins with. */
  readonly starts?: readonly string[];
  /** Texts that are at an offset. */
  readonly inside?: readonly (readonly [offset: number, text: string])[];
  readonly pattern?: RegExp;
  /** Completes "to use it, ...". */
  readonly need: string;
}

const notAnImage = 'use an image';
const convert = 'convert it to JPEG, PNG or WebP';
const toneMap = 'tone-map it to JPEG, PNG or AVIF';

const foreign: readonly Foreign[] = [
  { name: 'a PDF document', starts: ['%PDF-'], need: 'deliver its pages as images' },
  { name: 'a Photoshop document', starts: ['8BPS'], need: 'export it as PNG, TIFF or JPEG' },
  {
    name: 'a gzip file, such as a compressed SVG',
    starts: ['\x1f\x8b'],
    need: 'unpack it, or deliver it with Content-Encoding: gzip',
  },
  {
    name: 'a JPEG 2000 image',
    starts: ['\0\0\0\x0cjP  \r\n', '\xff\x4f\xff\x51'],
    need: convert,
  },
  { name: 'a JPEG XR image', starts: ['II\xbc'], need: convert },
  { name: 'a QOI image', starts: ['qoif'], need: convert },
  { name: 'a Netpbm image', pattern: /^P[1-7][\s#]/, need: convert },
  { name: 'a DDS texture', starts: ['DDS '], need: convert },
  { name: 'an OpenEXR image', starts: ['v/1\x01'], need: toneMap },
  { name: 'a Radiance HDR image', starts: ['#?RADIANCE', '#?RGBE'], need: toneMap },
  {
    name: 'a camera raw file',
    starts: ['FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'IIU\0'],
    inside: [[4, 'ftypcrx ']],
    need: 'develop it to JPEG or TIFF',
  },
  {
    name: 'a video',
    starts: ['\x1aE\xdf\xa3', '\0\0\x01\xb3', '\0\0\x01\xba'],
    inside: [
      [4, 'ftyp'],
      [8, 'AVI '],
    ],
    need: 'deliver one of its frames as an image',
  },
  {
    name: 'an audio file',
    starts: ['ID3', 'fLaC', 'OggS'],
    inside: [[8, 'WAVE']],
    need: notAnImage,
  },
  { name: 'a font', starts: ['wOFF', 'wOF2', 'OTTO', '\0\x01\0\0\0'], need: notAnImage },
  { name: 'a ZIP archive or an office document', starts: ['PK\x03\x04'], need: notAnImage },
  { name: 'an XML document', pattern: /^\s*<\?xml/, need: 'its root element must be svg' },
  {
    name: 'a JSON document',
    pattern: /^\s*[{[]["\s}\]{]/,
    need: 'let its address deliver the image, and not data about it or an error',
  },
];

/** Most error and login pages say so at their beginning, whatever content type they come with. */
const html = /^\s*<(?:!doctype\s+html|html)[\s>]/i;

const headBytes = 200;
const byteOrderMark = '\xef\xbb\xbf';

/** What bytes of no supported format are, and what would be needed; null for unknown ones. */
function describeForeign(bytes: Uint8Array): { name: string; need: string | null } | null {
  const length = Math.min(bytes.byteLength, headBytes);
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1');
  const text = head.startsWith(byteOrderMark) ? head.slice(byteOrderMark.length) : head;
  if (html.test(text)) return { name: 'an HTML page', need: null };
  const found = foreign.find(
    ({ starts = [], inside = [], pattern }) =>
      starts.some((start) => head.startsWith(start)) ||
      inside.some(([at, its]) => head.startsWith(its, at)) ||
      pattern?.test(text) === true,
  );
  return found ?? null;
}

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
export function requireSupportedFormat({ bytes, contentType }: Delivered): void {
  const kind = sniff(bytes);
  if (kind === 'jxl' && !optionalFormats().jxl) throw missingDecoder(kind);
  if (kind !== null) return;
  const its =
    contentType === null ? 'it has no content type' : `its content type is ${contentType}`;
  throw unsupportedFormat(bytes, `; ${its}`);
}

/** The error for bytes that are of no supported format: what they are, and what would be needed. */
export function unsupportedFormat(bytes: Uint8Array, more = ''): ServiceError {
  const found = describeForeign(bytes);
  const need = found?.need === undefined || found.need === null ? '' : ` To use it: ${found.need}.`;
  const is = found?.name ?? `not a ${alternatives(readableFormats())}`;
  return new ServiceError('source_unsupported', `The source is ${is}${more}.${need}`);
}

function alternatives(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

const needs = {
  heif: ['an HEIC image (HEVC in HEIF)', 'libheif and libde265'],
  jxl: ['a JPEG XL image', 'libjxl'],
} as const satisfies Partial<Record<SourceKind, readonly [name: string, library: string]>>;

/** The error for a format that the installed libvips does not read. */
export function missingDecoder(kind: keyof typeof needs): ServiceError {
  const [name, library] = needs[kind];
  return new ServiceError(
    'source_unsupported',
    `The source is ${name}. That needs a libvips with ${library}, which this service does not have; it reads ${readableFormats().join(', ')}.`,
  );
}
