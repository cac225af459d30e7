import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { ServiceError } from '../../../contract/errors.ts';

export interface SvgElement {
  /**
   * Empty for elements of other namespaces: not rendered, but `use` can refer to their children.
   */
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
  xlink: 'http://www.w3.org/1999/xlink',
  include: ['http://www.w3.org/2001/XInclude', 'http://www.w3.org/2003/XInclude'],
};

/**
 * Parses an SVG as librsvg does, as far as it affects the cost. Documents that are not well-formed
 * are refused; librsvg would refuse them too.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function readDocument(source: Uint8Array): SvgDocument {
  const reader = new DocumentReader();
  const parser = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  parser.on('error', (error) => {
    if (error.message.includes('undefined entity')) throw undeclaredEntity(error);
    throw corrupt(error);
  });
  parser.on('doctype', refuseDeclarations);
  parser.on('processinginstruction', ({ target, body }) => {
    if (target === 'xml-stylesheet') refuseEmbeddedStyleSheet(body);
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    reader.open(uri, local, Object.values(attributes));
  });
  parser.on('closetag', () => reader.close());
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.write(decode(source)).close();
  return reader.document();
}

class DocumentReader {
  readonly #elements: SvgElement[] = [];
  readonly #open: SvgElement[] = [];
  readonly #byId = new Map<string, SvgElement>();
  readonly #sheets = new Map<SvgElement, string>();

  open(uri: string, local: string, attributes: readonly SaxesAttributeNS[]): void {
    if (namespaces.include.includes(uri)) throw unsupported('The SVG includes other documents.');
    if (this.#open.length === maxDepth || this.#elements.length === maxElements) {
      throw unsupported('The SVG has too many elements.');
    }
    const name = namespaces.svg.includes(uri) ? local : '';
    const own = attributes.filter(({ prefix }) => prefix === '');
    const hrefs = attributes.filter(
      (attribute) => attribute.local === 'href' && ['', namespaces.xlink].includes(attribute.uri),
    );
    const element = {
      name,
      attributes: new Map(own.map((attribute) => [attribute.local, attribute.value])),
      hrefs: hrefs.map(({ value }) => value),
      children: [],
    };
    const id = element.attributes.get('id');
    // librsvg uses the first of several elements with the same id.
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, element);
    this.#open.at(-1)?.children.push(element);
    this.#elements.push(element);
    this.#open.push(element);
  }

  close(): void {
    this.#open.pop();
  }

  text(text: string): void {
    const element = this.#open.at(-1);
    if (element?.name !== 'style') return;
    this.#sheets.set(element, (this.#sheets.get(element) ?? '') + text);
  }

  document(): SvgDocument {
    const [root] = this.#elements;
    if (root?.name !== 'svg') throw corrupt();
    const styleSheets = [...this.#sheets.values()];
    return { root, byId: this.#byId, elements: this.#elements, styleSheets };
  }
}

/**
 * Decodes the encodings that librsvg supports. `sniff` accepts further supersets of ASCII, which
 * librsvg refuses.
 */
function decode(source: Uint8Array): string {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const declaration = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)/.exec(
    bytes.toString('latin1', 0, 1000),
  );
  const encoding = declaration?.[1]?.toLowerCase();
  if (encoding === 'iso-8859-1') return bytes.toString('latin1');
  const label = encoding === 'windows-1252' ? encoding : 'utf-8';
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch (error) {
    throw corrupt(error);
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

/** Of the names that HTML has, XML has only five. */
function undeclaredEntity(cause: Error): ServiceError {
  return new ServiceError(
    'source_corrupt',
    'The SVG uses an XML entity that is not declared: without declarations there are only &amp;, &lt;, &gt;, &quot; and &apos;.',
    cause,
  );
}

/** Refuses every `&` too: pseudo-attributes may be escaped in ways other than XML's. */
function refuseEmbeddedStyleSheet(instruction: string): void {
  if (!/&|data:/i.test(instruction.replace(/[\t\n\r]/g, ''))) return;
  throw unsupported('The SVG refers to a style sheet in a data: URL.');
}

export function unsupported(message: string): ServiceError {
  return new ServiceError('source_unsupported', message);
}

function corrupt(cause?: unknown): ServiceError {
  return new ServiceError('source_corrupt', 'The source cannot be read as SVG.', cause);
}
