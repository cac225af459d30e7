import sharp, { type Metadata } from 'sharp';
import type { SourceKind } from '../kinds.ts';
import { textTags } from './exif.ts';
import { iptcTexts } from './iptc.ts';
import { filteredXmp } from './xmp.ts';

/** Who made a picture, and who may use it how. */
export interface Copyright {
  /** Texts of EXIF's first directory by sharp's names; ASCII only. */
  readonly exif: Readonly<Record<string, string>>;
  /** An XMP packet. */
  readonly xmp: string;
}

/** The same texts in EXIF (Exif 3.0, 4.6.5), IPTC-IIM (data sets 80 and 116) and a PNG's chunks. */
const texts = [
  { name: 'Artist', tag: 0x013b, dataSet: 80, keyword: 'Author' },
  { name: 'Copyright', tag: 0x8298, dataSet: 116, keyword: 'Copyright' },
] as const;
type Name = (typeof texts)[number]['name'];

const longestText = 2_000;
/** Bytes of a source's text that are read: letters have up to four, and some are blanks. */
const mostTextBytes = 8 * longestText;
/** Bytes; a segment of a JPEG has less than 64 KiB. */
const longestXmp = 60_000;

const dc = 'http://purl.org/dc/elements/1.1/';
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

/** Elements and attributes by namespace: the packet's structure, and what says whose a picture is. */
const allowed: Readonly<Record<string, ReadonlySet<string>>> = {
  'adobe:ns:meta/': new Set(['', 'xmpmeta']),
  [rdf]: new Set(['', 'RDF', 'Description', 'Seq', 'Bag', 'Alt', 'li', 'resource', 'parseType']),
  'http://www.w3.org/XML/1998/namespace': new Set(['lang']),
  [dc]: new Set(['', 'creator', 'rights']),
  'http://ns.adobe.com/xap/1.0/rights/': new Set([
    '',
    'Certificate',
    'Marked',
    'Owner',
    'UsageTerms',
    'WebStatement',
  ]),
  'http://ns.adobe.com/photoshop/1.0/': new Set(['', 'Credit']),
  'http://creativecommons.org/ns#': new Set(['', 'license', 'attributionName', 'attributionURL']),
  'http://ns.useplus.org/ldf/xmp/1.0/': new Set([
    '',
    'Licensor',
    'LicensorName',
    'LicensorURL',
    'CopyrightOwner',
    'CopyrightOwnerName',
  ]),
};
const structure: ReadonlySet<string> = new Set([
  'adobe:ns:meta/',
  rdf,
  'http://www.w3.org/XML/1998/namespace',
]);

/**
 * The author, copyright and licence of a source, from its EXIF, XMP, IPTC and text chunks; nothing
 * else of them. sharp writes no IPTC, so that the texts of that become EXIF and XMP.
 *
 * @returns null when it has none
 */
export async function copyrightOf(source: Uint8Array, kind: SourceKind): Promise<Copyright | null> {
  // It was opened before, with checks of its own.
  const header = await sharp(source, { limitInputPixels: false, failOn: 'none' }).metadata();
  const known = textsOf(header, source, kind);
  const xmp = xmpOf(header.xmp?.toString() ?? '', known);
  if (xmp === null) return null;
  return {
    exif: Object.fromEntries([...known].flatMap(([name, text]) => exifText(name, text))),
    xmp,
  };
}

function textsOf(header: Metadata, source: Uint8Array, kind: SourceKind): Map<Name, string> {
  // libvips gives no EXIF of a TIFF, which has these tags in its own first directory.
  const tiff =
    kind === 'tiff' ? Buffer.from(source.buffer, source.byteOffset, source.byteLength) : null;
  const tags = textTags(
    tiff ?? header.exif ?? Buffer.alloc(0),
    texts.map(({ tag }) => tag),
  );
  const sets = iptcTexts(
    header.iptc ?? Buffer.alloc(0),
    texts.map(({ dataSet }) => dataSet),
  );
  const chunks = new Map(header.comments?.map(({ keyword, text }) => [keyword, Buffer.from(text)]));
  const found = texts.map(({ name, tag, dataSet, keyword }) => {
    const bytes = [tags.get(tag), sets.get(dataSet), chunks.get(keyword)];
    return [name, bytes.map(decoded).find((text) => text !== '') ?? ''] as const;
  });
  return new Map(found.filter(([, text]) => text !== ''));
}

/** UTF-8, or else Latin-1. EXIF separates a photographer's from an editor's copyright by a NUL. */
function decoded(bytes: Buffer | undefined): string {
  if (bytes === undefined) return '';
  const read = bytes.subarray(0, mostTextBytes);
  // A letter that was cut at the end is not invalid.
  const utf8 = read.toString('utf8').replace(read.length < bytes.length ? /\ufffd$/ : '', '');
  const text = utf8.includes('\ufffd') ? read.toString('latin1') : utf8;
  const parts = text.split('\0').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .slice(0, longestText)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, ' ');
}

/**
 * None for a text that is not ASCII: libvips writes other letters as those that look alike, or as
 * question marks. libvips also takes a pair of brackets at the end for its own type information.
 */
function exifText(name: Name, text: string): [string, string][] {
  const plain = text.replaceAll('©', '(C)');
  if (!/^[\x20-\x7e]*$/.test(plain)) return [];
  return [[name, plain.endsWith(')') ? `${plain} (ASCII)` : plain]];
}

/** The source's packet with only what it may have, and with the texts that are elsewhere alone. */
function xmpOf(packet: string, known: ReadonlyMap<Name, string>): string | null {
  const seen = new Set<string>();
  const isAllowed = (uri: string, local: string) => {
    if (allowed[uri]?.has(local) !== true) return false;
    if (local !== '' && !structure.has(uri)) seen.add(`${uri}${local}`);
    return true;
  };
  let own = '';
  try {
    own = filteredXmp(packet, {
      element: ({ uri, local }) => isAllowed(uri, local),
      attribute: isAllowed,
    });
  } catch {
    seen.clear();
  }
  if (Buffer.byteLength(own) > longestXmp) {
    own = '';
    seen.clear();
  }
  const missing = texts.flatMap(({ name }) => {
    const property = name === 'Artist' ? 'creator' : 'rights';
    const text = known.get(name);
    return text === undefined || seen.has(dc + property) ? [] : [{ property, text }];
  });
  if (missing.length === 0) return seen.size === 0 ? null : own;
  const end = seen.size === 0 ? null : /<\/(?:([\w.-]+):)?RDF\s*>/.exec(own);
  if (end === null)
    return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="${rdf}">${described('r:', missing)}</r:RDF></x:xmpmeta>`;
  const prefix = end[1] === undefined ? '' : `${end[1]}:`;
  return own.slice(0, end.index) + described(prefix, missing) + own.slice(end.index);
}

function described(r: string, missing: readonly { property: string; text: string }[]): string {
  const properties = missing.map(({ property, text }) => {
    const value = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return property === 'creator'
      ? `<dc:creator><${r}Seq><${r}li>${value}</${r}li></${r}Seq></dc:creator>`
      : `<dc:rights><${r}Alt><${r}li xml:lang="x-default">${value}</${r}li></${r}Alt></dc:rights>`;
  });
  return `<${r}Description xmlns:dc="${dc}">${properties.join('')}</${r}Description>`;
}
