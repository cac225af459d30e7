import type { SourceKind } from './kinds.ts';

/**
 * The kind of a source by its leading bytes, or null for one that the engine does not read. Nothing
 * reaches a decoder that has not been recognised here, so this list is also the list of decoders
 * that hostile bytes can reach.
 */
export function sniff(bytes: Uint8Array): SourceKind | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, headLength));
  for (const { kind, matches } of signatures) {
    if (matches(head)) return kind;
  }
  return null;
}

/** The SVG decoder looks for the root element in this many bytes and no further. */
const headLength = 1000;

const signatures: readonly { kind: SourceKind; matches: (head: Buffer) => boolean }[] = [
  { kind: 'jpeg', matches: (head) => hasBytes(head, 0, [0xff, 0xd8, 0xff]) },
  { kind: 'png', matches: (head) => hasText(head, 0, '\x89PNG\r\n\x1a\n') },
  { kind: 'gif', matches: (head) => hasText(head, 0, 'GIF87a') || hasText(head, 0, 'GIF89a') },
  { kind: 'webp', matches: (head) => hasText(head, 0, 'RIFF') && hasText(head, 8, 'WEBP') },
  { kind: 'tiff', matches: (head) => tiffMarks.some((mark) => hasBytes(head, 0, mark)) },
  { kind: 'avif', matches: (head) => brands(head).some((brand) => avifBrands.has(brand)) },
  { kind: 'heif', matches: (head) => brands(head).some((brand) => heifBrands.has(brand)) },
  { kind: 'svg', matches: startsWithSvgRoot },
];

/** Classic and BigTIFF, little and big endian. */
const tiffMarks = [
  [0x49, 0x49, 0x2a, 0x00],
  [0x4d, 0x4d, 0x00, 0x2a],
  [0x49, 0x49, 0x2b, 0x00],
  [0x4d, 0x4d, 0x00, 0x2b],
] as const;

const avifBrands: ReadonlySet<string> = new Set(['avif', 'avis']);
const heifBrands: ReadonlySet<string> = new Set([
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'],
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
 * Only an XML declaration, processing instructions, comments and a document type may come before
 * the root. Where the document type has an internal subset, it has to name the root: the document
 * is going to be refused for that subset.
 */
function startsWithSvgRoot(head: Buffer): boolean {
  const text = head.toString('latin1');
  const byteOrderMark = '\xef\xbb\xbf';
  let at = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const rest = text.slice(at);
    const prologue = prologues.find(({ open }) => rest.startsWith(open));
    if (prologue === undefined) return /^<svg[\s/>]/.test(rest);
    const [all] = prologue.whole.exec(rest) ?? [];
    if (all === undefined || prologue.refused?.test(all) === true) return false;
    if (all.endsWith('[')) return /^<!DOCTYPE\s+svg\s/.test(all);
    at += all.length;
  }
}

const prologues: readonly { open: string; whole: RegExp; refused: RegExp | null }[] = [
  // In an encoding that does not hold ASCII as it is, the decoder would see other elements.
  {
    open: '<?',
    whole: /^<\?[\s\S]*?\?>/,
    refused:
      /\sencoding\s*=\s*["'](?!(?:utf-8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-9])["'])/i,
  },
  { open: '<!--', whole: /^<!--[\s\S]*?-->/, refused: null },
  // To its end, or to where its internal subset begins.
  { open: '<!DOCTYPE', whole: /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/, refused: null },
];

function hasBytes(head: Buffer, at: number, expected: readonly number[]): boolean {
  return expected.every((byte, index) => head[at + index] === byte);
}

function hasText(head: Buffer, at: number, expected: string): boolean {
  return head.toString('latin1', at, at + expected.length) === expected;
}
