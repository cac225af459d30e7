import type { Metadata } from 'sharp';
import { checkedHeader } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { textTags } from './exif.ts';
import { filteredXmp } from './xmp.ts';

/** The Photoshop resource that contains IPTC-IIM. */
const resource = { signature: '8BIM', iptc: 0x0404 } as const;
/** The first byte of every data set, and the content record (IIM 4.2, 1.5). */
const marker = 0x1c;
const content = 2;

/** Maximum values per data set; images name few authors and notices. */
const maxValues = 20;

/**
 * Returns the texts of data sets in record 2 (IPTC-IIM 4.2), such as 80, the by-line. Joins
 * repeated data sets with commas.
 *
 * @param data IIM, or Photoshop resources that contain it
 */
function iptcTexts(data: Buffer, wanted: readonly number[]): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer[]>(wanted.map((dataSet) => [dataSet, []]));
  const iim = data[0] === marker ? data : findIim(data);
  for (let at = 0; at + 5 <= iim.length && iim[at] === marker; ) {
    const [, record = 0, dataSet = 0] = iim.subarray(at, at + 3);
    const length = iim.readUInt16BE(at + 3);
    // The highest bit marks an extended length, which no text needs.
    if (length > 0x7fff || at + 5 + length > iim.length) break;
    const values = record === content ? found.get(dataSet) : undefined;
    if (values !== undefined && values.length < maxValues) {
      values.push(iim.subarray(at + 5, at + 5 + length));
    }
    at += 5 + length;
  }
  return new Map([...found].map(([dataSet, values]) => [dataSet, joined(values)]));
}

const joined = (values: readonly Buffer[]): Buffer =>
  Buffer.concat(values.flatMap((value, index) => (index === 0 ? [value] : [comma, value])));

const comma = Buffer.from(', ');
const none = Buffer.alloc(0);

function findIim(data: Buffer): Buffer {
  for (let at = data.indexOf(resource.signature); at !== -1 && at + 12 <= data.length; ) {
    if (data.toString('latin1', at, at + 4) !== resource.signature) return none;
    // A name preceded by its length, and data, each padded to an even size.
    const nameBytes = ((data[at + 6] ?? 0) + 2) & ~1;
    const start = at + 6 + nameBytes + 4;
    if (start > data.length) return none;
    const length = data.readUInt32BE(start - 4);
    if (data.readUInt16BE(at + 4) === resource.iptc) return data.subarray(start, start + length);
    at = start + length + (length & 1);
  }
  return none;
}

/** Author, copyright and licence of an image. */
export interface Copyright {
  /** ASCII texts of EXIF's first directory, by sharp's names. */
  readonly exif: Readonly<Record<string, string>>;
  /** An XMP packet. */
  readonly xmp: string;
}

/** Each text's sources: EXIF (Exif 3.0, 4.6.5), IPTC-IIM (data sets 80 and 116) and PNG chunks. */
const texts = [
  { name: 'Artist', tag: 0x013b, dataSet: 80, keyword: 'Author' },
  { name: 'Copyright', tag: 0x8298, dataSet: 116, keyword: 'Copyright' },
] as const;
type Name = (typeof texts)[number]['name'];

const maxTextLength = 2_000;
/** Bytes read of a source's text: characters have up to four, and some are blanks. */
const maxTextBytes = 8 * maxTextLength;
/** Bytes; a segment of a JPEG has less than 64 KiB. */
const maxXmpBytes = 60_000;

const x = 'adobe:ns:meta/';
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const xml = 'http://www.w3.org/XML/1998/namespace';
const dc = 'http://purl.org/dc/elements/1.1/';
const rights = 'http://ns.adobe.com/xap/1.0/rights/';
const photoshop = 'http://ns.adobe.com/photoshop/1.0/';
const cc = 'http://creativecommons.org/ns#';
const plus = 'http://ns.useplus.org/ldf/xmp/1.0/';

/** Allowed elements and attributes per namespace; '' stands for its declaration. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  [x]: ['', 'xmpmeta'],
  [rdf]: ['', 'RDF', 'Description', 'Seq', 'Bag', 'Alt', 'li', 'resource', 'parseType'],
  [xml]: ['lang'],
  [dc]: ['', 'creator', 'rights'],
  [rights]: ['', 'Certificate', 'Marked', 'Owner', 'UsageTerms', 'WebStatement'],
  [photoshop]: ['', 'Credit'],
  [cc]: ['', 'license', 'attributionName', 'attributionURL'],
  [plus]: ['', 'Licensor', 'LicensorName', 'LicensorURL', 'CopyrightOwner', 'CopyrightOwnerName'],
};
/** Namespaces of the packet's structure, without information about the image. */
const structure: ReadonlySet<string> = new Set([x, rdf, xml]);

/**
 * Returns a source's author, copyright and licence from its EXIF, XMP, IPTC and text chunks. sharp
 * cannot write IPTC, so its texts become EXIF and XMP.
 *
 * @returns null if the source lacks all of them
 */
export async function readCopyright(
  source: Uint8Array,
  format: SourceFormat,
): Promise<Copyright | null> {
  const header = await checkedHeader(source, format);
  const known = readTexts(header, format.ownExif?.(source) ?? header.exif);
  const xmp = reduceXmp(header.xmp?.toString() ?? '', known);
  if (xmp === null) return null;
  return {
    exif: Object.fromEntries([...known].flatMap(([name, text]) => exifText(name, text))),
    xmp,
  };
}

function readTexts(header: Metadata, exif: Buffer | undefined): Map<Name, string> {
  const tags = textTags(
    exif ?? Buffer.alloc(0),
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

/**
 * Decodes UTF-8, or else Latin-1. EXIF separates a photographer's copyright from an editor's by a
 * NUL.
 */
export function decoded(bytes: Buffer | undefined): string {
  if (bytes === undefined) return '';
  const read = bytes.subarray(0, maxTextBytes);
  // A truncated character at the end is not invalid.
  const utf8 = read.toString('utf8').replace(read.length < bytes.length ? /\ufffd$/ : '', '');
  const text = utf8.includes('\ufffd') ? read.toString('latin1') : utf8;
  const parts = text.split('\0').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .slice(0, maxTextLength)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, ' ');
}

/**
 * Returns only ASCII texts: libvips replaces other characters with similar characters or question
 * marks. It also takes trailing parentheses for its own type information.
 */
function exifText(name: Name, text: string): [string, string][] {
  const plain = text.replaceAll('©', '(C)');
  if (!/^[\x20-\x7e]*$/.test(plain)) return [];
  return [[name, plain.endsWith(')') ? `${plain} (ASCII)` : plain]];
}

/**
 * Reduces the source's packet to `allowed`, and adds the texts that only EXIF, IPTC or chunks
 * contain.
 */
function reduceXmp(packet: string, known: ReadonlyMap<Name, string>): string | null {
  const seen = new Set<string>();
  const isAllowed = (uri: string, local: string) => {
    if (allowed[uri]?.includes(local) !== true) return false;
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
  if (Buffer.byteLength(own) > maxXmpBytes) {
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
  if (end === null) {
    return `<x:xmpmeta xmlns:x="${x}"><r:RDF xmlns:r="${rdf}">${described('r:', missing)}</r:RDF></x:xmpmeta>`;
  }
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
