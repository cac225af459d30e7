import { signature, signedText } from './access.ts';
import { type ImageAddress, readAddress } from './address.ts';

export interface SignUrlOptions {
  /** Null for a URL of any project. */
  readonly projectId: string | null;
  readonly secret: string;
  /** Unix seconds. */
  readonly exp: number;
  /** The path of the base URL, not signed because a proxy removes it. */
  readonly basePath: string;
  /** Throws if the URL must not be signed. */
  readonly check?: (address: ImageAddress) => void;
}

/**
 * Signs an image URL, or its path and query.
 *
 * @throws ServiceError with `check`, as `readAddress` does
 * @returns null for a text that is none, that has a signature, or that is of another project
 */
export function signImageUrl(
  text: string,
  { projectId, secret, exp, basePath, check }: SignUrlOptions,
): string | null {
  const base = basePath.replace(/\/$/, '');
  const [, origin = '', whole = '', query = ''] =
    /^(https?:\/\/[^/\s]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?$/.exec(text) ?? [];
  const path = whole.startsWith(`${base}/img`) ? whole.slice(base.length) : whole;
  if (!/^\/img(\/|$)/.test(path)) return null;
  const given = new URLSearchParams(query);
  if (given.has('sig') || given.has('exp')) return null;
  if (projectId !== null && given.getAll('project').join() !== projectId) return null;
  check?.(readAddress(path, query));
  const withExp = `${query === '' ? '' : `${query}&`}exp=${exp}`;
  const sig = signature(secret, signedText(path, withExp));
  return `${origin}${whole}?${withExp}&sig=${sig}`;
}
