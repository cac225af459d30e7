/** How an image fitModes a box with both sides given (sharp's terms). */
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
