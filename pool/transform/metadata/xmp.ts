import { SaxesParser, type SaxesTagNS } from 'saxes';

/** Which parts of an XMP packet stay. An element that is left out is left out with its content. */
export interface XmpFilter {
  element(tag: SaxesTagNS): boolean;
  /** @param uri the namespace of the attribute, or for a declaration the one that it declares */
  attribute(uri: string, local: string): boolean;
}

/**
 * XMP (ISO 16684-1) with a part of its elements and attributes, which are not changed.
 *
 * @throws Error for XML that is not well-formed
 */
export function filteredXmp(xmp: string, filter: XmpFilter): string {
  const parser = new SaxesParser({ xmlns: true });
  let text = '';
  /** Depth inside of an element that is left out. */
  let omitted = 0;
  const write = (more: string) => {
    if (omitted === 0) text += more;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    if (omitted > 0 || !filter.element(tag)) omitted += 1;
    else write(openTag(tag, filter));
  });
  parser.on('closetag', ({ name }) => {
    if (omitted > 0) omitted -= 1;
    else write(`</${name}>`);
  });
  parser.on('text', (content) => write(escaped(content)));
  parser.on('cdata', (content) => write(`<![CDATA[${content}]]>`));
  parser.on('processinginstruction', ({ target, body }) => write(`<?${target} ${body}?>`));
  parser.write(xmp).close();
  return text;
}

function openTag({ name, attributes }: SaxesTagNS, filter: XmpFilter): string {
  const kept = Object.values(attributes).filter(({ uri, prefix, local, value }) =>
    prefix === 'xmlns' ? filter.attribute(value, '') : filter.attribute(uri, local),
  );
  const texts = kept.map(({ name: its, value }) => ` ${its}="${escaped(value)}"`);
  return `<${name}${texts.join('')}>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escaped = (text: string) =>
  text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
