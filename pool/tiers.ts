/** Where images come from: the caches in the order in which they are asked, and `miss` for a render. */
export const imageTiers = ['memory', 'disk', 'shared', 'miss'] as const;
export type ImageTier = (typeof imageTiers)[number];
