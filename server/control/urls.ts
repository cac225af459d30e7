import { ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { readSource } from '../image/source-url.ts';

/** The rule for URLs, as error messages state it. */
export const urlRule =
  'must be an absolute http or https URL without userinfo, with a host of at most 1024 and in all of at most 8192 characters';

/** A URL as `readSource` returns it, without its fragment; null when it breaks the rule. */
export function readUrl(text: string): URL | null {
  try {
    return readSource(text);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Whether the guard allows a URL, judged by its text alone, without a DNS look-up of its host. */
export function isPublic(url: URL, guard: AddressGuard): boolean {
  try {
    guard.check(url);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
