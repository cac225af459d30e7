import { isHeaderSize } from './bitmap/header.ts';
import type { SourceKind } from './kinds.ts';

/**
 * Detects the format of a source by its first bytes; null for an unsupported one. Only detected
 * formats are passed to a decoder, so this list is also the list of decoders that hostile bytes can
 * reach.
 */
export function sniff(bytes: Uint8Array): SourceKind | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, headLength));
  for (const { kind, matches } of signatures) {
    if (matches(head)) return kind;
  }
  return null;
}

/** The SVG decoder searches the root element only in this many bytes. */
const headLength = 1000;

const signatures: readonly { kind: SourceKind; matches: (head: Buffer) => boolean }[] = [
  { kind: 'jpeg', matches: (head) => hasBytes(head, 0, [0xff, 0xd8, 0xff]) },
  { kind: 'png', matches: (head) => hasText(head, 0, '\x89PNG\r\n\x1a\n') },
  { kind: 'gif', matches: (head) => hasText(head, 0, 'GIF87a') || hasText(head, 0, 'GIF89a') },
  { kind: 'webp', matches: (head) => hasText(head, 0, 'RIFF') && hasText(head, 8, 'WEBP') },
  { kind: 'tiff', matches: (head) => tiffSignatures.some((bytes) => hasBytes(head, 0, bytes)) },
  { kind: 'avif', matches: (head) => brands(head).some((brand) => avifBrands.has(brand)) },
  { kind: 'heif', matches: (head) => brands(head).some((brand) => heifBrands.has(brand)) },
  { kind: 'jxl', matches: (head) => jxlSignatures.some((bytes) => hasBytes(head, 0, bytes)) },
  { kind: 'bmp', matches: isBmp },
  { kind: 'ico', matches: isIco },
  { kind: 'svg', matches: startsWithSvgRoot },
];

/** Classic and BigTIFF, little and big endian. */
const tiffSignatures = [
  [0x49, 0x49, 0x2a, 0x00],
  [0x4d, 0x4d, 0x00, 0x2a],
  [0x49, 0x49, 0x2b, 0x00],
  [0x4d, 0x4d, 0x00, 0x2b],
] as const;

/** A codestream alone, and one in boxes (ISO/IEC 18181-2). */
const jxlSignatures = [
  [0xff, 0x0a],
  [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a],
] as const;

/** Two letters alone would be those of many a text. */
function isBmp(head: Buffer): boolean {
  return hasText(head, 0, 'BM') && head.length >= 26 && isHeaderSize(head.readUInt32LE(14));
}

/** An icon or a cursor, whose first picture is behind the directory. */
function isIco(head: Buffer): boolean {
  if (!(hasBytes(head, 0, [0, 0, 1, 0]) || hasBytes(head, 0, [0, 0, 2, 0]))) return false;
  if (head.length < 22) return false;
  const pictures = head.readUInt16LE(4);
  return pictures > 0 && head.readUInt32LE(18) >= 6 + 16 * pictures;
}

const avifBrands: ReadonlySet<string> = new Set(['avif', 'avis']);
const heifBrands: ReadonlySet<string> = new Set([
  'heic',
  'heix',
  'heim',
  'heis',
  'hevc',
  'hevx',
  'mif1',
  'msf1',
]);

/** Major and compatible brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function brands(head: Buffer): string[] {
  if (head.length < 16 || !hasText(head, 4, 'ftyp')) return [];
  const end = Math.min(head.readUInt32BE(0), head.length);
  const found = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) found.push(head.toString('latin1', at, at + 4));
  return found;
}

/**
 * Only an XML declaration, processing instructions, comments and a document type may precede the
 * root element. A document type with an internal subset only has to name the root element:
 * `readDocument` refuses internal subsets with a specific error.
 */
function startsWithSvgRoot(head: Buffer): boolean {
  return svgRoot(head.toString('latin1')) !== null;
}

/**
 * The index of the root element's `<`, or of the internal subset before it; null when it is none of
 * SVG.
 *
 * @param text the bytes of a document, one character each
 */
export function svgRoot(text: string): number | null {
  const byteOrderMark = '\xef\xbb\xbf';
  let at = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const rest = text.slice(at);
    const prologue = prologues.find(({ open }) => rest.startsWith(open));
    if (prologue === undefined) return /^<svg[\s/>]/.test(rest) ? at : null;
    const [all] = prologue.whole.exec(rest) ?? [];
    if (all === undefined || prologue.refused?.test(all) === true) return null;
    if (all.endsWith('[')) return /^<!DOCTYPE\s+svg[\s[]/.test(all) ? at : null;
    at += all.length;
  }
}

const prologues: readonly { open: string; whole: RegExp; refused: RegExp | null }[] = [
  // In an encoding that is not a superset of ASCII the decoder would see different elements.
  {
    open: '<?',
    whole: /^<\?[\s\S]*?\?>/,
    refused:
      /\sencoding\s*=\s*["'](?!(?:utf-8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-9])["'])/i,
  },
  { open: '<!--', whole: /^<!--[\s\S]*?-->/, refused: null },
  // Up to its end, or up to the start of its internal subset.
  { open: '<!DOCTYPE', whole: /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/, refused: null },
];

function hasBytes(head: Buffer, at: number, expected: readonly number[]): boolean {
  return expected.every((byte, index) => head[at + index] === byte);
}

function hasText(head: Buffer, at: number, expected: string): boolean {
  return head.toString('latin1', at, at + expected.length) === expected;
}
