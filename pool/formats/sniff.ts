import { isHeaderSize } from './bitmap/header.ts';
import { bufferOf, textAt } from './bytes.ts';
import type { SourceKind } from './kinds.ts';

/**
 * Detects the format of a source by its first bytes; null if unsupported. Only detected formats are passed
 * to a decoder, so hostile bytes reach no other decoders than these.
 */
export function sniff(bytes: Uint8Array): SourceKind | null {
  const head = bufferOf(bytes).subarray(0, headLength);
  const text = head.toString('latin1');
  return signatures.find(([, matches]) => matches(text, head))?.[0] ?? null;
}

/** The SVG decoder looks for the root element in this many bytes. */
const headLength = 1000;

const hevcBrands: readonly string[] = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'];

const signatures: readonly (readonly [SourceKind, (text: string, head: Buffer) => boolean])[] = [
  ['jpeg', textAt(0, '\xff\xd8\xff')],
  ['png', textAt(0, '\x89PNG\r\n\x1a\n')],
  ['gif', textAt(0, 'GIF87a', 'GIF89a')],
  ['webp', (text) => text.startsWith('RIFF') && text.startsWith('WEBP', 8)],
  // Classic and BigTIFF, little and big endian.
  ['tiff', textAt(0, 'II*\0', 'MM\0*', 'II+\0', 'MM\0+')],
  // Before AVIF: libvips takes a file with such a major brand for HEVC, whatever its other brands are.
  ['heif', (text) => text.startsWith('ftyp', 4) && hevcBrands.includes(text.slice(8, 12))],
  ['avif', hasBrand('avif', 'avis')],
  ['heif', hasBrand(...hevcBrands, 'mif1', 'msf1')],
  // A codestream alone, and one in boxes (ISO/IEC 18181-2).
  ['jxl', textAt(0, '\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n')],
  ['pdf', textAt(0, '%PDF-')],
  ['bmp', isBmp],
  ['ico', isIco],
  ['svg', (text) => svgRoot(text) !== null],
];

/** Checks the header too, because many texts begin with BM. */
function isBmp(text: string, head: Buffer): boolean {
  return text.startsWith('BM') && head.length >= 26 && isHeaderSize(head.readUInt32LE(14));
}

/** An icon or a cursor whose first image follows the directory. */
function isIco(text: string, head: Buffer): boolean {
  if (!textAt(0, '\0\0\x01\0', '\0\0\x02\0')(text) || head.length < 22) return false;
  const images = head.readUInt16LE(4);
  return images > 0 && head.readUInt32LE(18) >= 6 + 16 * images;
}

/** Compares the major and compatible brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function hasBrand(...brands: readonly string[]) {
  return (text: string, head: Buffer): boolean => {
    if (head.length < 16 || !text.startsWith('ftyp', 4)) return false;
    const end = Math.min(head.readUInt32BE(0), head.length);
    const found = [text.slice(8, 12)];
    for (let at = 16; at + 4 <= end; at += 4) found.push(text.slice(at, at + 4));
    return found.some((brand) => brands.includes(brand));
  };
}

/**
 * The index of the root element's `<`, or of the internal subset before it; null if the root is not svg.
 * Only an XML declaration, processing instructions, comments and a document type may precede the root. A
 * document type with an internal subset only has to name the root element: `embeddedImages` refuses internal
 * subsets with a specific error.
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

const prologues: readonly { open: string; whole: RegExp; refused?: RegExp }[] = [
  {
    open: '<?',
    whole: /^<\?[\s\S]*?\?>/,
    // In encodings that are not supersets of ASCII the decoder would see different elements.
    refused:
      /\sencoding\s*=\s*["'](?!(?:utf-8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-9])["'])/i,
  },
  { open: '<!--', whole: /^<!--[\s\S]*?-->/ },
  // Up to its end, or up to the start of its internal subset.
  { open: '<!DOCTYPE', whole: /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/ },
];
