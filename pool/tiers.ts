/** The image caches, in look-up order. */
export const cacheTiers = ['memory', 'disk', 'shared'] as const;
/** An image's origin; `miss` for a render. */
export const imageTiers = [...cacheTiers, 'miss'] as const;
export type ImageTier = (typeof imageTiers)[number];
