import { SaxesParser, type SaxesTagNS } from 'saxes';

/**
 * The namespaces that describe a gain map, and the other images in the same file: Adobe's, which
 * Ultra HDR uses, Apple's, and Google's directory.
 */
const namespaces: ReadonlySet<string> = new Set([
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'http://ns.google.com/photos/1.0/container/',
]);

/**
 * XMP without what it says about a gain map. The output has none, and viewers that look for it would
 * show the image too bright, or not at all.
 *
 * @returns the argument when it says nothing about one; null when it does and cannot be read
 */
export function withoutGainMap(xmp: string): string | null {
  if (![...namespaces].some((namespace) => xmp.includes(namespace))) return xmp;
  try {
    return rewritten(xmp);
  } catch {
    return null;
  }
}

/** @throws Error for XML that is not well-formed */
function rewritten(xmp: string): string {
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
    if (omitted > 0 || namespaces.has(tag.uri)) omitted += 1;
    else write(openTag(tag));
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

function openTag({ name, attributes }: SaxesTagNS): string {
  const kept = Object.values(attributes).filter(
    // A declaration of a namespace that nothing uses any more would still say that there is a map.
    ({ uri, prefix, value }) => !namespaces.has(prefix === 'xmlns' ? value : uri),
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
