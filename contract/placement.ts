/** How an image is fitted into a box when both sides are given (sharp's terms). */
export const fits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fits)[number];

/** The edges and corners of an image, and its middle (sharp's terms). */
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
