import type { Gravity } from '../../../contract/fit-modes.ts';
import { decodeOption, noEquivalent, optionInvalid } from './meaning.ts';

/** All names of Cloudinary's transformation parameters; other segments are folders. */
const names = new Set(
  `a ac af ar b bl bo br c co cs d dl dn dpr du e eo f fl fn fps g h if ki l o p pg q r so sp t u vc vs w x y
  z`.split(/\s+/),
);

const toName = (option: string): string => /^([a-z]{1,3})_./.exec(option)?.[1] ?? '';

/** Returns whether a path segment is a transformation component. */
export function isComponent(segment: string): boolean {
  const options = segment.split(',', 100);
  return options.every((option) => names.has(toName(option)) || option.startsWith('$'));
}

const maxOptions = 40;

/**
 * Reads a component's options.
 * @throws ServiceError parameter_invalid naming an option that has no equivalent, or a repeated
 *   option
 */
export function readComponent(component: string): Map<string, string> {
  const options = new Map<string, string>();
  const written = component.split(',', maxOptions + 1);
  if (written.length > maxOptions) {
    throw optionInvalid('A component', `must have at most ${maxOptions} options`);
  }
  for (const option of written) {
    const name = toName(option);
    if (!understood.has(name)) throw noEquivalent(option);
    if (options.has(name)) throw optionInvalid(name, 'is given more than once in a component');
    options.set(name, decodeOption(option, option.slice(name.length + 1)));
  }
  return options;
}

/** Parameters with an equivalent for at least some values. */
const understood = new Set('a ar b c cs dpr e f fl g h o pg q t w x y'.split(' '));

const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
  jxl: 'jxl',
};

/** Returns this service's name for a Cloudinary format, or null for formats that it lacks. */
export const toFormat = (name: string): string | null =>
  (Object.hasOwn(formats, name) && formats[name]) || null;

/** Returns the format requested by the public id's extension, or null. */
export function readFormat(source: string): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]{1,5})$/.exec(source) ?? [];
  return toFormat(extension.toLowerCase());
}

const gravities: Readonly<Record<string, Gravity | 'attention'>> = {
  center: 'center',
  north: 'north',
  north_east: 'northeast',
  east: 'east',
  south_east: 'southeast',
  south: 'south',
  south_west: 'southwest',
  west: 'west',
  north_west: 'northwest',
  auto: 'attention',
};

/** @throws ServiceError parameter_invalid if a gravity has no equivalent */
export function readGravity(text: string): Gravity | 'attention' {
  const gravity = Object.hasOwn(gravities, text) ? gravities[text] : undefined;
  if (gravity === undefined) throw noEquivalent(`g_${text}`);
  return gravity;
}

/** Reads a colour name, or hexadecimal digits after `rgb:` or `#`. */
export function readColour(text: string): string {
  const [, digits = text] = /^(?:rgb:|#)([0-9a-f]+)$/i.exec(text) ?? [];
  if (/^(?:auto|blurred|gen_fill|predominant)\b/.test(text)) throw noEquivalent(`b_${text}`);
  return digits;
}
