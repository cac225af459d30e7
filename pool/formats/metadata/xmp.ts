import { SaxesParser, type SaxesTagNS } from 'saxes';
import { escapeXml } from '../../escape-xml.ts';

/** Elements and attributes to keep in an XMP packet. Removing an element removes its content. */
interface XmpFilter {
  element(tag: SaxesTagNS): boolean;
  /** @param uri the attribute's namespace, or the namespace that it declares */
  attribute(uri: string, local: string): boolean;
}

/** Characters of a packet; editors that record an image's history need this many. */
const maxPacketLength = 2 ** 20;
/** XMP needs about ten levels of elements; each level costs a search for prefixes. */
const maxDepth = 100;
/** Maximum attributes per element, including namespace declarations. */
const maxAttributes = 1_000;

/**
 * Reduces XMP (ISO 16684-1) to some of its elements and attributes.
 *
 * @throws Error for malformed XML, or XML that is too long or too deep or has too many attributes
 */
export function filteredXmp(xmp: string, filter: XmpFilter): string {
  if (xmp.length > maxPacketLength) throw new Error('The XMP is too long.');
  const parser = new SaxesParser({ xmlns: true });
  let depth = 0;
  let attributes = 0;
  let text = '';
  /** Depth within a removed element; 0 outside. */
  let omitted = 0;
  const write = (more: string) => {
    if (omitted === 0) text += more;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentagstart', () => {
    depth += 1;
    attributes = 0;
    if (depth > maxDepth) throw new Error('The XMP is too deep.');
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > maxAttributes) throw new Error('The XMP has too many attributes.');
  });
  parser.on('opentag', (tag) => {
    if (omitted > 0 || !filter.element(tag)) omitted += 1;
    else write(openTag(tag, filter));
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    if (omitted > 0) omitted -= 1;
    else write(`</${name}>`);
  });
  parser.on('text', (content) => write(escapeXml(content)));
  parser.on('cdata', (content) => write(`<![CDATA[${content}]]>`));
  parser.on('processinginstruction', ({ target, body }) => write(`<?${target} ${body}?>`));
  parser.write(xmp).close();
  return text;
}

function openTag({ name, attributes }: SaxesTagNS, filter: XmpFilter): string {
  const kept = Object.values(attributes).filter(({ uri, prefix, local, value }) =>
    prefix === 'xmlns' ? filter.attribute(value, '') : filter.attribute(uri, local),
  );
  const texts = kept.map(({ name: attribute, value }) => ` ${attribute}="${escapeXml(value)}"`);
  return `<${name}${texts.join('')}>`;
}
