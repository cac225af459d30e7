import { canonicalHost } from '../../contract/hosts.ts';
import { signature, signedText } from './access.ts';
import { type ImageAddress, isImagePath } from './address.ts';
import { readRequestAddress } from './host-address.ts';
import { isForeign, type Site } from './site.ts';

interface SignUrlOptions {
  readonly projectId: string;
  /** Returns the site of a canonical host, or null if it is not a delivery host of the project. */
  readonly siteAt: (host: string) => Site | null;
  readonly secret: string;
  /** Unix seconds. */
  readonly exp: number;
  /** The base URL's path, unsigned because a proxy removes it. */
  readonly basePath: string;
  /** Throws to refuse signing the URL. */
  readonly check?: (address: ImageAddress) => void;
}

/**
 * Signs an image URL: its path and query, or a delivery host's URL.
 *
 * @throws ServiceError with `check`, as `readAddress` does
 * @returns null if the text is not an image URL, is already signed, or belongs to another project
 *   or service
 */
export function signImageUrl(
  text: string,
  { projectId, siteAt, secret, exp, basePath, check }: SignUrlOptions,
): string | null {
  const [, origin = '', whole = '', query = ''] =
    /^(https?:\/\/[^/\s]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?$/.exec(text) ?? [];
  const site = siteAt((URL.canParse(origin) && canonicalHost(new URL(origin).hostname)) || '');
  const base = basePath.replace(/\/$/, '');
  const isBelowBase = site === null && whole.startsWith(`${base}/img`);
  const path = isBelowBase ? whole.slice(base.length) : whole;
  if (site === null && !isImagePath(path)) return null;
  const given = new URLSearchParams(query);
  if (given.has('sig') || given.has('exp')) return null;
  const named = given.getAll('project').join();
  const isOther = site === null ? named !== projectId : named !== '' && named !== projectId;
  if (isOther) return null;
  if (site !== null && !isImagePath(path) && isForeign(site)) return null;
  check?.(readRequestAddress(path, query, site));
  const withExp = `${query === '' ? '' : `${query}&`}exp=${exp}`;
  const host = isImagePath(path) ? '' : `//${site?.host.host}`;
  const sig = signature(secret, signedText(host + path, withExp));
  return `${origin}${whole}?${withExp}&sig=${sig}`;
}
