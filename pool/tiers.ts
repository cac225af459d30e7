/** The image caches, in look-up order. */
export const cacheTiers = ['memory', 'disk', 'shared'] as const;
export type CacheTier = (typeof cacheTiers)[number];
/** An image's origin; `miss` for a render. */
export const imageTiers = [...cacheTiers, 'miss'] as const;
export type ImageTier = (typeof imageTiers)[number];

/** Returns an object with a value per cache. */
export const byCacheTier = <T>(read: (tier: CacheTier) => T) =>
  Object.fromEntries(cacheTiers.map((tier) => [tier, read(tier)])) as Readonly<
    Record<CacheTier, T>
  >;
