import type { Builder } from './builder.ts';
import { buildWithUnpic, type Operations } from './unpic.ts';

/** Returns the native query: unpic crops to the box, and Cloudflare scales up for it. */
const nativeQuery = ({ width, height, format = 'auto', quality }: Operations): string => {
  const box = height === undefined ? '' : `&fit=cover&h=${height}`;
  const q = quality === undefined ? '' : `&q=${quality}`;
  return `dpr=1&enlarge=1&fmt=${format}&w=${width}${box}${q}`;
};

/** Builds URLs with unpic. */
export const cloudflareBuilder: Builder = {
  kind: 'cloudflare',
  signing: null,
  build: (parent, source) => buildWithUnpic(parent, 'cloudflare', source, nativeQuery),
};
