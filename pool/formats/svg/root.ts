import { asBuffer } from '../bytes.ts';

export interface Root {
  /** The index of the root element's `<`. */
  readonly at: number;
  /** The name with its prefix, such as `svg` or `ns0:svg`. */
  readonly name: string;
}

/**
 * Finds the root element in a document's text, or in its start; returns null if the root is not
 * svg. Only an XML declaration, processing instructions, comments and a document type can precede
 * the root. A document type with an internal subset only needs to name the root element, and
 * returns the subset's index.
 */
export function svgRoot(text: string): Root | null {
  let at = 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const rest = text.slice(at);
    const whole = prologues.find(([open]) => rest.startsWith(open))?.[1];
    if (whole === undefined) return rootAt(at, /^<((?:[\w.-]{1,100}:)?svg)[\s/>]/.exec(rest));
    const [all] = whole.exec(rest) ?? [];
    if (all === undefined) return null;
    if (all.endsWith('[')) {
      return rootAt(at, /^<!DOCTYPE\s+((?:[\w.-]{1,100}:)?svg)[\s[]/.exec(all));
    }
    at += all.length;
  }
}

const rootAt = (at: number, found: RegExpExecArray | null): Root | null =>
  found?.[1] === undefined ? null : { at, name: found[1] };

const prologues: readonly (readonly [open: string, whole: RegExp])[] = [
  ['<?', /^<\?[\s\S]*?\?>/],
  ['<!--', /^<!--[\s\S]*?-->/],
  // Matches up to its end, or up to the start of its internal subset.
  ['<!DOCTYPE', /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/],
];

/** Returns the root element's attributes, with quotes and offsets, in a well-formed document. */
export function readRoot(source: Uint8Array) {
  const bytes = asBuffer(source);
  const text = bytes.toString('latin1');
  const { at, name } = svgRoot(text) ?? { at: 0, name: '' };
  const from = at + 1 + name.length;
  const attributes = new Map<string, string>();
  const attribute = /\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')/y;
  attribute.lastIndex = from;
  let to = from;
  for (let found = attribute.exec(text); found !== null; found = attribute.exec(text)) {
    const [, attributeName = '', quoted = ''] = found;
    attributes.set(attributeName, quoted);
    to = attribute.lastIndex;
  }
  return { bytes, name, from, to, attributes };
}

export const unquoted = (
  attributes: ReadonlyMap<string, string>,
  name: string,
): string | undefined => attributes.get(name)?.slice(1, -1);

/** Returns the four numbers in the viewBox; null if absent or invalid. */
export function parseViewBox(attributes: ReadonlyMap<string, string>): readonly number[] | null {
  const box = (unquoted(attributes, 'viewBox') ?? '')
    .trim()
    .split(/\s*,\s*|\s+/)
    .map((number) => (number === '' ? Number.NaN : Number(number)));
  const [, , across = 0, down = 0] = box;
  return box.length === 4 && box.every(Number.isFinite) && across >= 0 && down >= 0 ? box : null;
}
