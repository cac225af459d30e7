/** Control characters, and path separators of all systems. */
const ambiguous = /[\p{Cc}/\\]/u;

/**
 * The segments of a URL's path, each decoded once; null for a path that programs interpret differently: with an
 * encoded separator or a control character, or a malformed encoding.
 */
export function partsOfPath(path: string): readonly string[] | null {
  if (!path.startsWith('/')) return null;
  try {
    const parts = path.slice(1).split('/').map(decodeURIComponent);
    return parts.some((part) => ambiguous.test(part)) ? null : parts;
  } catch {
    return null;
  }
}
