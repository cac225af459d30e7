import type { Size } from '../../geometry.ts';
import { corrupt } from '../errors.ts';
import { parseViewBox, readRoot, unquoted } from './root.ts';

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
    throw corrupt('The SVG has a width or a height that is not above 0.');
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
