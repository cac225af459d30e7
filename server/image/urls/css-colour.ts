import { colour } from '../values.ts';

/**
 * Returns the hex digits or name of a CSS colour, or null for another text. Accepts a name, hex
 * digits after `#`, or whole channels in `rgb()` or `rgba()`.
 */
export function cssColour(text: string): string | null {
  const written = text.trim().toLowerCase();
  const [, list] = /^rgba?\(([^()]*)\)$/.exec(written) ?? [];
  const hex = list === undefined ? written.replace(/^#/, '') : toHex(list);
  return hex !== null && colour.parse(hex) !== undefined ? hex : null;
}

/** Returns the hex digits of whole channels from 0 to 255 and an opacity from 0 to 1, or null. */
function toHex(list: string): string | null {
  const [red, green, blue, alpha = '1', ...others] = list.split(/\s*[,/]\s*|\s+/).filter(Boolean);
  const channels = [red, green, blue].map((text = '') => (/^\d{1,3}$/.test(text) ? +text : 256));
  const opacity = /^(?:\d|\d?\.\d{1,10})$/.test(alpha) ? Number(alpha) : 2;
  if (others.length > 0 || opacity > 1 || channels.some((channel) => channel > 255)) return null;
  return Buffer.from([...channels, Math.round(opacity * 255)]).toString('hex');
}
