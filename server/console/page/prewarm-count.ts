import type { ParameterTexts } from './image-url.ts';

/** The images of the format `auto`: AVIF, WebP, and the one for browsers without them. */
const autoImages = 3;

const imagesOfFormat = (format: string): number =>
  format === '' || format === 'auto' ? autoImages : 1;

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** The most images of a source in these widths and formats. Without a width there is one, without a format `auto`. */
export function imagesOfFormats(widths: readonly string[], formats: readonly string[]): number {
  const each = sum(formats.length === 0 ? [autoImages] : formats.map(imagesOfFormat));
  return Math.max(1, new Set(widths).size) * each;
}

/** The most images of a source in these variants. */
export const imagesOfVariants = (variants: readonly ParameterTexts[]): number =>
  sum(variants.map(({ fmt = '' }) => imagesOfFormat(fmt)));
