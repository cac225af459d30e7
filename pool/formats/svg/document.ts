import { setImmediate } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import type { ServiceError } from '../../../contract/errors.ts';
import { matching } from '../bytes.ts';
import { corrupt, tooLarge, unsupported } from '../errors.ts';
import type { SourceFormat } from '../source-format.ts';
import { svgRoot } from './root.ts';

/**
 * Returns whether the first bytes could start an XML document.
 * @param text one character per byte
 */
export const mayBeXml = (text: string): boolean =>
  /^(?:\xef\xbb\xbf\s*<|\xff\xfe|\xfe\xff|\s*<|\0<\0\?)/.test(text);

/**
 * Decodes a document like browsers: by a byte order mark, UTF-16 in the characters `<?`, or the
 * declared encoding. Like browsers, uses UTF-8 for unknown encodings, and for UTF-16 declared in
 * ASCII bytes, as written by .NET.
 *
 * @throws TypeError for bytes that are invalid in the encoding, unless the document is cut
 */
export function decodeXml(bytes: Uint8Array, { isCut }: { readonly isCut: boolean }): string {
  const head = Buffer.from(bytes.subarray(0, 1000)).toString('latin1');
  return createDecoder(detectEncoding(head), !isCut).decode(bytes);
}

function detectEncoding(head: string): string {
  if (/^(?:\xff\xfe|<\0\?\0)/.test(head)) return 'utf-16le';
  if (/^(?:\xfe\xff|\0<\0\?)/.test(head)) return 'utf-16be';
  if (head.startsWith('\xef\xbb\xbf')) return 'utf-8';
  const [, declared = 'utf-8'] = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  return /utf-?16|ucs-?2|unicode/i.test(declared) ? 'utf-8' : declared;
}

function createDecoder(label: string, fatal: boolean): TextDecoder {
  try {
    return new TextDecoder(label, { fatal });
  } catch {
    return new TextDecoder('utf-8', { fatal });
  }
}

/** Illustrator declares 20 or fewer, the longest with about 60 characters. */
const max = { entities: 64, length: 2_000, addedLength: 1_000_000 };

/**
 * Matches white space, a comment, a declaration that does not affect the drawing, or a literal text
 * with its name.
 */
const declaration =
  /\s+|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!(?:ELEMENT|ATTLIST)\s[^"'<>]*>|<!ENTITY\s+([\w.:-]{1,100})\s+("[^"]*"|'[^']*')\s*>/y;

/**
 * Texts that use only XML's own entities, and no character references to `&` and `<`, which start
 * entities.
 */
const literal =
  /^(?:[^&%]|&(?:amp|lt|gt|quot|apos);|&#(?!0*(?:38|60);|x0*(?:26|3c);)(?:\d+|x[\da-f]+);)*$/i;

/**
 * Replaces entities declared in a document's internal subset, and removes the document type.
 * Entities are literal texts, bounded in number and length, such as Illustrator's namespaces.
 *
 * @param text from the document type on
 * @throws ServiceError source_unsupported, source_too_large
 */
function withoutDocumentType(text: string): string {
  const open = /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/.exec(text)?.[0] ?? '';
  if (!open.endsWith('[')) return text.slice(open.length);
  const entities = new Map<string, string>();
  declaration.lastIndex = open.length;
  let end = open.length;
  for (let found = declaration.exec(text); found !== null; found = declaration.exec(text)) {
    const [all, name, quoted = ''] = found;
    if (name !== undefined) {
      const value = quoted.slice(1, -1);
      if (value.length > max.length || !literal.test(value) || entities.size === max.entities) {
        throw unsupportedDeclaration(all);
      }
      if (!entities.has(name)) entities.set(name, value);
    }
    end = declaration.lastIndex;
  }
  const close = /^\]\s*>/.exec(text.slice(end, end + 100));
  if (close === null) throw unsupportedDeclaration(text.slice(end, end + 300));
  return replaced(text.slice(end + close[0].length), entities);
}

/** Matches sections that cannot contain entities, even if incomplete, and entity references. */
const uses =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&([\w.:-]{1,100});/g;

function replaced(text: string, entities: ReadonlyMap<string, string>): string {
  let added = 0;
  return text.replace(uses, (use, name: string | undefined) => {
    const value = name === undefined ? undefined : entities.get(name);
    if (value === undefined) return use;
    added += value.length;
    if (added > max.addedLength) throw tooLarge('The SVG expands its XML entities too often.');
    return value;
  });
}

function unsupportedDeclaration(text: string) {
  const [, name] = /^<!ENTITY\s+(?:%\s+)?([\w.:-]{1,40})\s/.exec(text) ?? [];
  return unsupported(
    name === undefined
      ? "The SVG's document type contains declarations, which are not supported."
      : `The SVG declares the XML entity ${name} in its document type. Only ${max.entities} entities are supported, with up to ${max.length} characters of literal text: save the SVG with its entities expanded.`,
  );
}

/** The limit of librsvg's XML parser; here it also bounds the cost of resolving a prefix. */
const maxDepth = 256;

/** librsvg's limit. */
const maxElements = 1_000_000;

/** Embedded images: more than real SVGs have, and few enough to inspect quickly. */
const maxEmbedded = 256;

/** Characters parsed at a time, in about a millisecond. */
const parsedAtOnce = 2 ** 16;

const namespaces = {
  // librsvg treats elements without a namespace as SVG.
  svg: ['', 'http://www.w3.org/2000/svg'],
  href: ['', 'http://www.w3.org/1999/xlink'],
  include: ['http://www.w3.org/2001/XInclude', 'http://www.w3.org/2003/XInclude'],
};

interface EmbeddedImage {
  readonly format: SourceFormat;
  readonly bytes: Uint8Array;
  /** The attribute's value, and the raw value's indexes in the text. */
  readonly url: string;
  readonly urlAt: Range;
  /**
   * The side that the image's aspect ratio determines; null if the element gives both sides or
   * neither.
   */
  readonly missing: MissingDimension | null;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

interface MissingDimension {
  readonly name: 'width' | 'height';
  /** The other side's length. */
  readonly length: number;
  readonly unit: string;
  /** The index in the text where an attribute can be inserted. */
  readonly at: number;
}

export interface SvgDocument {
  /** The document from its root element on, without declared entities. */
  readonly text: string;
  /** Embedded as data: URLs, in document order. */
  readonly images: readonly EmbeddedImage[];
  /** Declarations of the root's style attribute. */
  readonly style: string;
}

/**
 * Reads a document, checks everything that the process limits do not cover, and finds its images.
 * Refuses malformed documents, as librsvg would.
 *
 * @param formats allowed for embedded images
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function readDocument(
  source: Uint8Array,
  formats: readonly SourceFormat[],
): Promise<SvgDocument> {
  const text = rootText(decode(source));
  return { text, ...(await readParts(text, formats)) };
}

/** Parses a text in pieces. Timeouts and memory limits take effect between them. */
export async function parseInPieces(
  parser: SaxesParser<{ xmlns: true }>,
  text: string,
): Promise<void> {
  for (let at = 0; at < text.length; at += parsedAtOnce) {
    parser.write(text.slice(at, at + parsedAtOnce));
    await setImmediate();
  }
  parser.close();
}

/** Returns the document without its prologue, which affects only its texts. */
function rootText(text: string): string {
  const rest = text.slice(svgRoot(text)?.at ?? 0);
  if (!rest.startsWith('<!DOCTYPE')) return rest;
  const document = withoutDocumentType(rest);
  const root = document.slice(svgRoot(document)?.at ?? 0);
  if (!root.startsWith('<!')) return root;
  throw corrupt('No root element svg follows the document type of the SVG.');
}

async function readParts(
  text: string,
  formats: readonly SourceFormat[],
): Promise<Omit<SvgDocument, 'text'>> {
  const images: EmbeddedImage[] = [];
  let style = '';
  let elements = 0;
  let depth = 0;
  /** Positions of attribute values in the tag, by name. */
  const ranges = new Map<string, Range>();
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('error', (error) => {
    if (error.message.includes('undefined entity')) throw undeclaredEntity(error);
    throw malformed(error);
  });
  parser.on('opentagstart', () => ranges.clear());
  parser.on('attribute', ({ name }) => {
    // After the quote; a value does not contain its own quote.
    const to = parser.position - 1;
    ranges.set(name, { from: text.lastIndexOf(text[to] ?? '', to - 1) + 1, to });
  });
  parser.on('opentag', (tag) => {
    if (namespaces.include.includes(tag.uri)) {
      throw unsupported('The SVG includes other documents.');
    }
    const isSvg = namespaces.svg.includes(tag.uri);
    if (elements === 0 && !(isSvg && tag.local === 'svg')) throw otherRoot(tag);
    if (elements === 0) style = tag.attributes['style']?.value ?? '';
    elements += 1;
    depth += 1;
    if (depth > maxDepth || elements > maxElements) {
      throw unsupported('The SVG has too many elements.');
    }
    if (!isSvg || !imageElements.has(tag.local)) return;
    for (const { name, value: url } of imageAttributes(tag)) {
      const { type, bytes } = parseDataUrl(url);
      if (bytes.byteLength === 0) continue;
      const format = matching(formats, bytes);
      // librsvg trusts a drawing's type, and recognises the others by their bytes.
      const isDrawing = /svg|xml/i.test(type);
      if (format === null || format.vector !== isDrawing) throw unreadableImage(type);
      if (images.length === maxEmbedded) throw tooManyImages();
      const urlAt = ranges.get(name) ?? { from: 0, to: 0 };
      images.push({
        format,
        bytes,
        url,
        urlAt,
        missing: findMissingDimension(tag, parser.position),
      });
    }
  });
  parser.on('closetag', () => {
    depth -= 1;
  });
  await parseInPieces(parser, text);
  return { images, style };
}

/** Elements that render the image at their URL. */
const imageElements: ReadonlySet<string> = new Set(['image', 'feImage']);

/**
 * Returns the attributes `href` and `xlink:href`, because librsvg can follow either, and `path`,
 * which old Illustrator versions write and librsvg reads.
 */
function imageAttributes({ attributes }: SaxesTagNS): SaxesAttributeNS[] {
  return Object.values(attributes).filter(({ local, uri, prefix }) => {
    const isHref = local === 'href' && namespaces.href.includes(uri);
    return isHref || (local === 'path' && prefix === '');
  });
}

/** @param end the index after the tag */
function findMissingDimension(
  { attributes, isSelfClosing }: SaxesTagNS,
  end: number,
): MissingDimension | null {
  const { width, height, style } = attributes;
  if ((width === undefined) === (height === undefined)) return null;
  const name = width === undefined ? 'width' : 'height';
  if (style?.value.includes(name) === true) return null;
  const given = (width ?? height)?.value ?? '';
  const [, number = '', unit = ''] = /^\s*([\d.]{1,20})([a-z]*)\s*$/.exec(given) ?? [];
  const length = Number(number);
  return length > 0 ? { name, length, unit, at: end - (isSelfClosing ? 2 : 1) } : null;
}

function unreadableImage(type: string): ServiceError {
  const [name = 'no type'] = /^[\w/+.-]{1,40}/.exec(type) ?? [];
  return unsupported(
    `The SVG embeds an image (${name}) that is not a JPEG, PNG, GIF, WebP, AVIF, TIFF or an SVG without SVGs.`,
  );
}

const tooManyImages = () => unsupported(`The SVG embeds more than ${maxEmbedded} images.`);

/**
 * Returns the type and bytes of an image in a data: URL (RFC 2397, parsed as leniently as by the
 * Fetch standard); no bytes for other URLs.
 */
function parseDataUrl(value: string): { readonly type: string; readonly bytes: Uint8Array } {
  // The URL Standard removes these characters before it parses.
  const url = value.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '');
  const comma = url.indexOf(',');
  if (!/^data:/i.test(url) || comma === -1) return { type: '', bytes: Buffer.alloc(0) };
  const type = url.slice('data:'.length, comma).trim();
  const body = url
    .slice(comma + 1)
    .replace(/[\u0080-\u{10ffff}]/gu, encodeURIComponent)
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { type, bytes: Buffer.from(body, /;\s*base64\s*$/i.test(type) ? 'base64' : 'latin1') };
}

function decode(source: Uint8Array): string {
  try {
    return decodeXml(source, { isCut: false });
  } catch (error) {
    throw corrupt('The SVG has bytes that are invalid in its encoding.', error);
  }
}

/** Returns the error for an undeclared entity: XML defines only five of HTML's named entities. */
function undeclaredEntity(cause: Error): ServiceError {
  const message =
    'The SVG uses an undeclared XML entity; without declarations there are only &amp;, &lt;, &gt;, &quot; and &apos;.';
  return corrupt(message, cause);
}

/** The parser's messages name parts of the document. */
const malformed = (cause: Error): ServiceError =>
  corrupt(`The SVG is not well-formed XML: ${cause.message.slice(0, 100)}`, cause);

const otherRoot = ({ name, uri }: SaxesTagNS): ServiceError =>
  corrupt(
    `The root element ${name.slice(0, 40)} is in the namespace ${uri.slice(0, 80)}, not in SVG's.`,
  );
