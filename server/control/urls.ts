import { ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { readSource } from '../image/address.ts';

/** What a URL has to be, in words. */
export const urlRule =
  'must be an absolute http or https URL without userinfo, of at most 8192 characters';

/** A URL as sources are, without its fragment; null when it breaks the rule. */
export function readUrl(text: string): URL | null {
  try {
    return readSource(text);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Whether a URL may be fetched as far as it tells by itself, without a look-up of its host. */
export function isPublic(url: URL, guard: AddressGuard): boolean {
  try {
    guard.check(url);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
