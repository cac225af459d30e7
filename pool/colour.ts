import type { ColourSpace } from './formats/metadata/colour-space.ts';

/** `#rrggbbaa`, lower case. */
export type Colour = `#${string}`;

/** A colour in sharp's form: channels 0..255, alpha 0..1. */
export interface Rgba {
  readonly r: number;
  readonly g: number;
  readonly b: number;
  readonly alpha: number;
}

/** The backdrop in formats without transparency: most pages are white. */
export const white: Rgba = { r: 255, g: 255, b: 255, alpha: 1 };
export const transparent: Rgba = { r: 0, g: 0, b: 0, alpha: 0 };

export function rgba(colour: Colour): Rgba {
  const [r = 0, g = 0, b = 0, a = 0] = Buffer.from(colour.slice(1), 'hex');
  return { r, g, b, alpha: a / 255 };
}

export const isTransparent = (colour: Colour): boolean => colour.endsWith('00');

interface Backdrop {
  /** Null if not set. */
  readonly background: Colour | null;
  /** True for an opaque output. */
  readonly flatten: boolean;
}

/** Returns the background colour; opaque unless the output can be transparent. */
export function effectiveBackground(variant: Backdrop, alpha: boolean): Rgba {
  const requested = variant.background === null ? transparent : rgba(variant.background);
  return alpha && !variant.flatten ? requested : over(requested, white);
}

/** Returns an sRGB colour in a colour space; null for sRGB. */
export function inSpace(
  { r, g, b, alpha }: Rgba,
  space: Pick<ColourSpace, 'fromSrgb'> | null,
): Rgba {
  const converted = space === null ? null : space.fromSrgb([r, g, b]);
  return converted === null
    ? { r, g, b, alpha }
    : { r: converted[0], g: converted[1], b: converted[2], alpha };
}

export const isGrey = ({ r, g, b }: Rgba): boolean => r === g && g === b;

function over(colour: Rgba, backdrop: Rgba): Rgba {
  const mix = (upper: number, lower: number) =>
    Math.round(upper * colour.alpha + lower * (1 - colour.alpha));
  return {
    r: mix(colour.r, backdrop.r),
    g: mix(colour.g, backdrop.g),
    b: mix(colour.b, backdrop.b),
    alpha: 1,
  };
}
