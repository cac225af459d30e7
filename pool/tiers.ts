/** The caches of images, in the order of the look-ups. */
export const cacheTiers = ['memory', 'disk', 'shared'] as const;
/** Where an image comes from; `miss` for a render. */
export const imageTiers = [...cacheTiers, 'miss'] as const;
export type ImageTier = (typeof imageTiers)[number];
