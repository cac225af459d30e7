import type { Size } from '../../geometry.ts';
import { bufferOf } from '../bytes.ts';
import { svgRoot } from './root.ts';

/**
 * Density at which SVGs are opened, in dots per inch: that of CSS (CSS Values 4, 6.2), so points and inches
 * have the same size as in browsers. Other sizes are written into the document: libvips 8.18 also uses the
 * density as the scale, and the size of a drawing in inches would grow with its square.
 */
export const svgDensity = 96;

/** Pixels of libvips for each CSS pixel at that density. */
const libvipsScale = svgDensity / 72;

/** CSS pixels of each unit of length. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 96 / 72,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
};

/** The size of a drawing in CSS pixels; the header's is rounded to whole pixels of libvips. */
export function svgSize(source: Uint8Array, header: Size): Size {
  const rounded = { width: header.width / libvipsScale, height: header.height / libvipsScale };
  const exact = writtenSize(rootOf(source).attributes);
  const isSame = (side: keyof Size) => Math.abs((exact?.[side] ?? 0) - rounded[side]) <= 1;
  // A style sheet may override the attributes.
  return exact !== null && isSame('width') && isSame('height') ? exact : rounded;
}

/**
 * The drawing with another size: `scale` pixels for each CSS pixel, at `svgDensity`. The `viewBox` scales
 * the content.
 *
 * @param size in CSS pixels
 */
export function sizedSvg(source: Uint8Array, size: Size, scale: number): Buffer {
  const { bytes, from, to, attributes } = rootOf(source);
  const width = `${(size.width * scale) / libvipsScale}px`;
  const height = `${(size.height * scale) / libvipsScale}px`;
  // No style sheet overrides these declarations.
  const style = `width:${width}!important;height:${height}!important`;
  const changed: ReadonlyMap<string, string> = new Map([
    ['viewBox', `"0 0 ${size.width} ${size.height}"`],
    ...attributes,
    ['width', `"${width}"`],
    ['height', `"${height}"`],
    ['style', withDeclarations(attributes.get('style') ?? '""', style)],
  ]);
  const tag = [...changed].map(([name, quoted]) => ` ${name}=${quoted}`).join('');
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(tag, 'latin1'), bytes.subarray(to)]);
}

const withDeclarations = (quoted: string, more: string): string =>
  `${quoted.slice(0, -1)};${more}${quoted.slice(-1)}`;

/** The attributes of the root element, with their quotes and offsets, in a well-formed document. */
function rootOf(source: Uint8Array) {
  const bytes = bufferOf(source);
  const text = bytes.toString('latin1');
  const root = svgRoot(text);
  const from = root === null ? 0 : root.at + 1 + root.name.length;
  const attributes = new Map<string, string>();
  const attribute = /\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')/y;
  attribute.lastIndex = from;
  let to = from;
  for (let found = attribute.exec(text); found !== null; found = attribute.exec(text)) {
    const [, name = '', quoted = ''] = found;
    attributes.set(name, quoted);
    to = attribute.lastIndex;
  }
  return { bytes, from, to, attributes };
}

/** Size in the attributes; null if they leave it open or depend on fonts. */
function writtenSize(attributes: ReadonlyMap<string, string>): Size | null {
  const [width, height] = [attributes.get('width'), attributes.get('height')].map(pixels);
  const box = (attributes.get('viewBox') ?? '""')
    .slice(1, -1)
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [, , across = Number.NaN, down = Number.NaN] = box;
  const size = {
    width: width ?? (height === null || height === undefined ? across : (height * across) / down),
    height: height ?? (width === null || width === undefined ? down : (width * down) / across),
  };
  return size.width > 0 && size.height > 0 ? size : null;
}

/** @param quoted a length with its quotes; null if absent or a percentage, NaN for other units */
function pixels(quoted: string | undefined): number | null {
  const text = quoted?.slice(1, -1).trim() ?? '100%';
  if (text.endsWith('%') || text === 'auto') return null;
  const [, number = '', unit = ''] = /^([+-]?[\d.]+(?:e[+-]?\d+)?)([a-z]*)$/i.exec(text) ?? [];
  return number === '' ? Number.NaN : Number(number) * (units[unit.toLowerCase()] ?? Number.NaN);
}
