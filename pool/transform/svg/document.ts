import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { ServiceError } from '../../../contract/errors.ts';

export interface SvgElement {
  /** Empty for elements of other namespaces: they draw nothing, but what is in them can be used. */
  readonly name: string;
  /** Those without a prefix. */
  readonly attributes: ReadonlyMap<string, string>;
  /** `href` and `xlink:href`: both are kept, since either may be the one that is followed. */
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

/** What the decoder's XML parser allows; here it also bounds what a look-up of a prefix costs. */
const maxDepth = 256;

/** As many as the decoder loads. */
const maxElements = 1_000_000;

const namespaces = {
  // The decoder takes elements without a namespace for SVG.
  svg: ['', 'http://www.w3.org/2000/svg'],
  xlink: 'http://www.w3.org/1999/xlink',
  include: ['http://www.w3.org/2001/XInclude', 'http://www.w3.org/2003/XInclude'],
};

/**
 * Reads an SVG as the decoder will, as far as its cost can depend on it. What the tokenizer calls
 * not well-formed is no loss: the decoder is as strict.
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
    // The decoder takes the first of several elements with one id.
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
 * The encodings that the decoder knows; `sniff` lets through others that hold ASCII as it is, which
 * the decoder then refuses.
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

/** @param doctype what stands between `<!DOCTYPE` and its `>` */
function refuseDeclarations(doctype: string): void {
  if (!doctype.replace(/"[^"]*"|'[^']*'/g, '').includes('[')) return;
  throw unsupported('The SVG declares XML entities or attributes in its document type.');
}

/** Its attributes may be escaped in more ways than XML has. */
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
