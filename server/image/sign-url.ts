import { signature, signedText } from './access.ts';

interface SignUrlOptions {
  /** Null for a URL of any project. */
  readonly projectId: string | null;
  readonly secret: string;
  /** Unix seconds. */
  readonly exp: number;
  /** The path of the base URL, not signed because a proxy removes it. */
  readonly basePath: string;
}

/**
 * Signs an image URL, or its path and query.
 *
 * @returns null for a text that is none, that has a signature, or that is of another project
 */
export function signImageUrl(
  text: string,
  { projectId, secret, exp, basePath }: SignUrlOptions,
): string | null {
  const base = basePath.replace(/\/$/, '');
  const [, origin = '', whole = '', query = ''] =
    /^(https?:\/\/[^/\s]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?$/.exec(text) ?? [];
  const path = whole.startsWith(`${base}/img`) ? whole.slice(base.length) : whole;
  if (!/^\/img(\/|$)/.test(path)) return null;
  const given = new URLSearchParams(query);
  if (given.has('sig') || given.has('exp')) return null;
  if (projectId !== null && given.getAll('project').join() !== projectId) return null;
  const withExp = `${query === '' ? '' : `${query}&`}exp=${exp}`;
  const sig = signature(secret, signedText(path, withExp));
  return `${origin}${whole}?${withExp}&sig=${sig}`;
}
