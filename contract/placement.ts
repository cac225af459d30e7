/** How an image fits a box with both sides given (sharp's terms). */
export const fits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fits)[number];

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
