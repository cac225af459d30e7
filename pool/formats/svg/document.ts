import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { ServiceError } from '../../../contract/errors.ts';
import { bufferOf } from '../bytes.ts';
import { corrupt, unsupported } from '../errors.ts';

export interface SvgElement {
  /** Empty in other namespaces: not rendered, but `use` can refer to the children. */
  readonly name: string;
  /** Attributes without a prefix. */
  readonly attributes: ReadonlyMap<string, string>;
  /** `href` and `xlink:href`: both, because librsvg may follow either one. */
  readonly hrefs: readonly string[];
  readonly children: SvgElement[];
}

export interface SvgDocument {
  readonly root: SvgElement;
  readonly byId: ReadonlyMap<string, SvgElement>;
  readonly elements: readonly SvgElement[];
  /** The text of each `style` element. */
  readonly styleSheets: readonly string[];
}

/** The limit of librsvg's XML parser; here it also bounds the cost of resolving a prefix. */
const maxDepth = 256;

/** librsvg's limit. */
const maxElements = 1_000_000;

const namespaces = {
  // librsvg treats elements without a namespace as SVG.
  svg: ['', 'http://www.w3.org/2000/svg'],
  href: ['', 'http://www.w3.org/1999/xlink'],
  include: ['http://www.w3.org/2001/XInclude', 'http://www.w3.org/2003/XInclude'],
};

/**
 * Parses an SVG as librsvg does, as far as it affects the cost. Documents that are not well-formed are
 * refused; librsvg would refuse them too.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function readDocument(source: Uint8Array): SvgDocument {
  const elements: SvgElement[] = [];
  const open: SvgElement[] = [];
  const byId = new Map<string, SvgElement>();
  const sheets = new Map<SvgElement, string>();
  const addText = (text: string) => {
    const element = open.at(-1);
    if (element?.name === 'style') sheets.set(element, (sheets.get(element) ?? '') + text);
  };
  const parser = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  parser.on('error', (error) => {
    if (error.message.includes('undefined entity')) throw undeclaredEntity(error);
    throw corruptSvg(error);
  });
  parser.on('doctype', refuseDeclarations);
  parser.on('processinginstruction', ({ target, body }) => {
    if (target === 'xml-stylesheet') refuseEmbeddedStyleSheet(body);
  });
  parser.on('opentag', (tag) => {
    if (namespaces.include.includes(tag.uri))
      throw unsupported('The SVG includes other documents.');
    if (open.length === maxDepth || elements.length === maxElements) {
      throw unsupported('The SVG has too many elements.');
    }
    const element = elementOf(tag);
    const id = element.attributes.get('id');
    // librsvg uses the first of several elements with the same id.
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    open.at(-1)?.children.push(element);
    elements.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.write(decode(source)).close();
  const [root] = elements;
  if (root?.name !== 'svg') throw corruptSvg();
  return { root, byId, elements, styleSheets: [...sheets.values()] };
}

function elementOf({ uri, local, attributes }: SaxesTagNS): SvgElement {
  const all = Object.values(attributes);
  const own = all.filter(({ prefix }) => prefix === '');
  const hrefs = all.filter((one) => one.local === 'href' && namespaces.href.includes(one.uri));
  return {
    name: namespaces.svg.includes(uri) ? local : '',
    attributes: new Map(own.map((one) => [one.local, one.value])),
    hrefs: hrefs.map(({ value }) => value),
    children: [],
  };
}

/** Decodes the encodings that librsvg supports; `sniff` accepts more, which librsvg refuses. */
function decode(source: Uint8Array): string {
  const bytes = bufferOf(source);
  const declaration = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)/.exec(
    bytes.toString('latin1', 0, 1000),
  );
  const encoding = declaration?.[1]?.toLowerCase();
  if (encoding === 'iso-8859-1') return bytes.toString('latin1');
  const label = encoding === 'windows-1252' ? encoding : 'utf-8';
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch (error) {
    throw corruptSvg(error);
  }
}

/** @param doctype the text between `<!DOCTYPE` and `>` */
function refuseDeclarations(doctype: string): void {
  if (!doctype.replace(/"[^"]*"|'[^']*'/g, '').includes('[')) return;
  const [, name] = /<!ENTITY\s+(?:%\s+)?([\w.:-]{1,40})\s/.exec(doctype) ?? [];
  throw unsupported(
    name === undefined
      ? 'The SVG has declarations in its document type, which are not supported.'
      : `The SVG declares the XML entity ${name} in its document type. Entities are not supported: save the SVG with their values in their places.`,
  );
}

/** XML has only five of HTML's named entities. */
function undeclaredEntity(cause: Error): ServiceError {
  const message =
    'The SVG uses an XML entity that is not declared: without declarations there are only &amp;, &lt;, &gt;, &quot; and &apos;.';
  return corrupt(message, cause);
}

/** Refuses every `&` too: pseudo-attributes may be escaped in ways other than XML's. */
function refuseEmbeddedStyleSheet(instruction: string): void {
  if (!/&|data:/i.test(instruction.replace(/[\t\n\r]/g, ''))) return;
  throw unsupported('The SVG refers to a style sheet in a data: URL.');
}

const corruptSvg = (cause?: unknown): ServiceError =>
  corrupt('The source cannot be read as SVG.', cause);
