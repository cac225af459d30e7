import type { Size } from '../../geometry.ts';
import { parseViewBox, readRoot } from './root.ts';

/**
 * Returns the background colour that browsers draw behind the root element, or null.
 *
 * @param sheets the document's style sheets
 * @param style the declarations in the root's attribute
 */
export function findBackground(sheets: string, style: string): string | null {
  let colour: string | null = null;
  for (const declaration of `${rootDeclarations(sheets)};${style}`.split(';')) {
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

/** Returns the root rules' declarations, outside at-rules such as `@media`. */
function rootDeclarations(sheets: string): string {
  const parts = sheets.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '').split(/([{}])/);
  let found = '';
  let depth = 0;
  let selectors = '';
  for (const [index, part] of parts.entries()) {
    const text = parts[index - 1] ?? '';
    if (part === '{') {
      if (depth === 0) selectors = text.slice(text.lastIndexOf(';') + 1);
      depth += 1;
    } else if (part === '}') {
      const isRoot = selectors
        .split(',')
        .some((selector) => /^(?:svg|:root)$/.test(selector.trim()));
      if (depth === 1 && isRoot) found += `${text};`;
      depth = Math.max(0, depth - 1);
    }
  }
  return found;
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
