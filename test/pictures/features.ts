/**
 * SVG features that are likely to explain a difference. A group lists its images' features, because
 * images with the same feature usually differ for the same reason.
 */
const features: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['foreignObject', /<(?:\w+:)?foreignObject\b/],
  ['text', /<(?:\w+:)?text\b/],
  ['var()', /\bvar\(/],
  ['new colours', /\b(?:oklch|oklab|lab|lch|color|color-mix|light-dark)\(/],
  ['rem', /[\d.]rem\b/],
  ['transform-origin', /\btransform-(?:origin|box)\b/],
  ['nested CSS', /<style[^<]*\{[^}<]*[{&]/],
  ['script', /<(?:\w+:)?script\b/],
  ['animation', /<(?:\w+:)?(?:animate\w*|set)\b|@keyframes/],
  ['image', /<(?:\w+:)?image\b/],
  ['filter', /<(?:\w+:)?filter\b/],
];

const maxFeatures = 2;

/** Returns an SVG's first features, and an empty list for other files. */
export function findFeatures(file: string, source: Buffer): readonly string[] {
  if (!/\.svg$/i.test(file)) return [];
  const text = source.toString('latin1');
  return features
    .filter(([, pattern]) => pattern.test(text))
    .map(([name]) => name)
    .slice(0, maxFeatures);
}
