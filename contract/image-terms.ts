/** Formats that clients name in Accept and `auto` can select. */
export const negotiableFormats = ['jxl', 'avif', 'webp', 'svg'] as const;
export type NegotiableFormat = (typeof negotiableFormats)[number];

/** Formats for any source; only SVG sources are delivered as SVG. */
export const firstFormats = ['jxl', 'avif', 'webp'] as const satisfies readonly NegotiableFormat[];

/** With equal weights, the earlier format wins. */
export const defaultAutoFormats: readonly NegotiableFormat[] = ['avif', 'webp'];

/** A list of different formats in order of preference, separated by commas; undefined for any other text. */
export function parseAutoFormats(text: string): readonly NegotiableFormat[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  const formats = names.flatMap((name) => negotiableFormats.filter((format) => format === name));
  const isList = formats.length === names.length && new Set(formats).size === names.length;
  return isList ? formats : undefined;
}

/** How an image fits a box with both sides given (sharp's terms). */
export const fitModes = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fitModes)[number];

/** An image's edges, corners and centre (sharp's terms). */
export const gravities = [
  'center',
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
] as const;
export type Gravity = (typeof gravities)[number];
