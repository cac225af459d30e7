/**
 * Version of the renderer's output. Every cache key contains it, so that caches do not serve old
 * images after a change to pixels or encoders: increment it with such a change. 1 stands for
 * unversioned cache keys.
 */
export const rendererVersion = 26;
