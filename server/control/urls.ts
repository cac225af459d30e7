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

/**
 * The rule that a URL breaks when the guard refuses it, with what is wrong and the setting that allows it; null
 * when it does not. Judged by the URL's text alone, without a DNS look-up of its host.
 */
export function publicHostError(url: URL, guard: AddressGuard): string | null {
  try {
    guard.check(url);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const why = guard.allowsHost(url.hostname)
      ? error.message.replace(/\.$/, '')
      : `${url.hostname} is not; an operator can name ${url.host} in SERVICE_PRIVATE_SOURCES`;
    return `must be on a public host: ${why}`;
  }
}
