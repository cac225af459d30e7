/** Control characters, and separators of any system. */
const ambiguous = /[\p{Cc}/\\]/u;

/**
 * The parts of a URL's path, each decoded once; null for a path that programs read differently: with a separator
 * or a control character within a part, or a malformed encoding.
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
