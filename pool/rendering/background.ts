import type { Colour, Rgba } from '../colour.ts';
import type { Variant } from '../variant.ts';

/** The backdrop in formats without transparency: most pages are white. */
const white: Rgba = { r: 255, g: 255, b: 255, alpha: 1 };
const transparent: Rgba = { r: 0, g: 0, b: 0, alpha: 0 };

export function rgba(colour: Colour): Rgba {
  const [r = 0, g = 0, b = 0, a = 0] = Buffer.from(colour.slice(1), 'hex');
  return { r, g, b, alpha: a / 255 };
}

export const isTransparent = (colour: Colour): boolean => colour.endsWith('00');

/** The background colour; opaque unless the output may be transparent. */
export function backgroundOf(variant: Variant, alpha: boolean): Rgba {
  const requested = variant.background === null ? transparent : rgba(variant.background);
  return alpha && !variant.flatten ? requested : over(requested, white);
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
