import type { Size } from '../../geometry.ts';
import { asBuffer } from '../bytes.ts';
import { corrupt } from '../errors.ts';

interface Root {
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

/**
 * Density for opening SVGs, in dots per inch: CSS's (CSS Values 4, 6.2), so points and inches match
 * browsers. Other sizes are written into the document: libvips 8.18 also uses the density as the
 * scale, so the size of a drawing in inches would grow with its square.
 */
export const svgDensity = 96;

/** libvips pixels per CSS pixel at that density. */
const libvipsScale = svgDensity / 72;

/** CSS pixels per length unit. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 96 / 72,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
};

/** Parts of the root's font size; browsers measure `ex` and `ch` in its font. */
const fontUnits: Readonly<Record<string, number>> = { em: 1, rem: 1, ex: 0.5, ch: 0.5 };

/** Default size and font size in browsers, in CSS pixels. */
const initial = { width: 300, height: 150, fontSize: 16 };

/**
 * Returns a drawing's size in CSS pixels, as an `<img>` shows it in browsers (CSS Images 3, 5.3):
 * width and height from the attributes, ignoring style sheets. Percentages count as absent, and the
 * viewBox's aspect ratio determines a missing side. A viewBox alone is the size; browsers leave
 * such a size to the page.
 *
 * @throws ServiceError source_corrupt for a side of 0
 */
export function svgSize(source: Uint8Array): Size {
  const { attributes } = readRoot(source);
  const style = attributes.get('style') ?? '';
  const [, declared] = /[;"'\s]font-size\s*:\s*([^;"'!]+)/i.exec(style) ?? [];
  const fontSize = pixels(declared ?? unquoted(attributes, 'font-size'), initial.fontSize);
  const side = (name: keyof Size) =>
    pixels(unquoted(attributes, name), fontSize ?? initial.fontSize);
  const [width, height] = [side('width'), side('height')];
  if ((width ?? 1) <= 0 || (height ?? 1) <= 0) {
    throw corrupt("The SVG's width and height must be greater than 0.");
  }
  const [, , across = 0, down = 0] = parseViewBox(attributes) ?? [];
  const hasBox = across > 0 && down > 0;
  if (width === null && height === null) return hasBox ? { width: across, height: down } : initial;
  const keepsRatio = !/^\s*none/.test(unquoted(attributes, 'preserveAspectRatio') ?? '');
  const ratio = hasBox && keepsRatio ? across / down : null;
  return {
    width: width ?? (ratio === null || height === null ? initial.width : height * ratio),
    height: height ?? (ratio === null || width === null ? initial.height : width / ratio),
  };
}

/**
 * Changes the drawing's size to `scale` pixels per CSS pixel, at `svgDensity`. The `viewBox` scales
 * the content.
 *
 * @param size in CSS pixels
 */
export function sizedSvg(source: Uint8Array, size: Size, scale: number): Buffer {
  const { bytes, from, to, attributes } = readRoot(source);
  const width = `${(size.width * scale) / libvipsScale}px`;
  const height = `${(size.height * scale) / libvipsScale}px`;
  // No style sheet overrides these declarations.
  const style = `width:${width}!important;height:${height}!important`;
  const box = parseViewBox(attributes) ?? [0, 0, size.width, size.height];
  const changed: ReadonlyMap<string, string> = new Map([
    ...attributes,
    ['viewBox', `"${box.join(' ')}"`],
    ['width', `"${width}"`],
    ['height', `"${height}"`],
    ['style', withDeclarations(attributes.get('style') ?? '""', style)],
  ]);
  const tag = [...changed].map(([name, quoted]) => ` ${name}=${quoted}`).join('');
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(tag, 'latin1'), bytes.subarray(to)]);
}

const withDeclarations = (quoted: string, more: string): string =>
  `${quoted.slice(0, -1)};${more}${quoted.slice(-1)}`;

/** Returns a length in CSS pixels; null if absent, relative to the page, or invalid. */
function pixels(text: string | undefined, fontSize: number): number | null {
  const [, number = '', unit = ''] =
    /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*)\s*$/i.exec(text ?? '') ?? [];
  const name = unit.toLowerCase();
  const each = units[name] ?? fontSize * (fontUnits[name] ?? Number.NaN);
  const length = Number(number || Number.NaN) * each;
  return Number.isFinite(length) ? length : null;
}

/**
 * Returns the background colour that browsers draw behind the root element, or null.
 *
 * @param style the declarations in the root's attribute
 */
export function findBackground(style: string): string | null {
  let colour: string | null = null;
  for (const declaration of style.split(';')) {
    const [, name = '', value = ''] =
      /^\s*(background(?:-color)?)\s*:([^:]*)$/i.exec(declaration) ?? [];
    // An invalid value leaves a colour unchanged, but a background also sets other properties.
    const found = parseColour(value.replace(/!\s*important/i, '').trim());
    if (found !== undefined) colour = found;
    else if (name.toLowerCase() === 'background') colour = null;
  }
  return colour;
}

/** Returns null for no colour, and undefined for other values, such as gradients. */
function parseColour(value: string): string | null | undefined {
  // Use the light colour: an <img> uses the light scheme unless the page changes it.
  const light = /^light-dark\(((?:[^(),]|\([^()]*\))*),/i.exec(value)?.[1]?.trim() ?? value;
  if (/^(?:transparent|none|initial|unset|inherit|revert(?:-layer)?)$/i.test(light)) return null;
  const simple = /^(?:#[\da-f]{3,8}|[a-z]{3,30}|(?:rgb|hsl)a?\([\d.,%\s/a-z+-]{1,60}\))$/i;
  return simple.test(light) ? light : undefined;
}

/**
 * Inserts a polygon behind the drawing that fills the whole area. A polygon has no geometry
 * properties, and no style sheet overrides its declarations.
 *
 * @param size of the drawing, as `svgSize` returns it
 */
export function withBackground(source: Uint8Array, size: Size, colour: string): Buffer {
  const { bytes, name, to, attributes } = readRoot(source);
  const end = bytes.indexOf('>', to) + 1;
  // An element without content.
  if (end === 0 || bytes[end - 2] === '/'.charCodeAt(0)) return bytes;
  const [left = 0, top = 0, across = size.width, down = size.height] =
    parseViewBox(attributes) ?? [];
  // The area is larger than a viewBox with another aspect ratio.
  const ratio = (size.width * down) / (size.height * across);
  const [x, y] = [across, down].map((side) => Math.max(ratio, 1 / ratio) * side) as [
    number,
    number,
  ];
  const corners = [left - x, top - y, left + across + x, top + down + y];
  if (!corners.every(Number.isFinite)) return bytes;
  const [x1, y1, x2, y2] = corners;
  const style = `fill:${colour};${fixed}`.replaceAll(/;|$/g, '!important$&');
  const polygon = `<${name.replace(/svg$/, 'polygon')} points="${x1},${y1} ${x2},${y1} ${x2},${y2} ${x1},${y2}" fill="none" style="${style}"/>`;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(polygon), bytes.subarray(end)]);
}

const fixed =
  'fill-opacity:1;stroke:none;opacity:1;filter:none;mask:none;clip-path:none;transform:none;display:inline;visibility:visible;marker:none';
