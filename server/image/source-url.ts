import { ServiceError } from '../../contract/errors.ts';
import { authorityOf, isLongAuthority } from '../../contract/hosts.ts';
import type { Value } from './values.ts';

/** The longest source URL that is accepted, in characters. */
export const maxSourceLength = 8_192;

/** @throws ServiceError source_invalid */
export function readSource(text: string): URL {
  const written = text.trim();
  if (written.length > maxSourceLength) {
    throw new ServiceError(
      'source_invalid',
      `The source URL has more than ${maxSourceLength} characters.`,
    );
  }
  if (isLongAuthority(authorityOf(written))) {
    throw new ServiceError('source_invalid', 'The host of the source URL is too long.');
  }
  // WHATWG parsing would accept even `https:example.com`.
  if (!/^https?:\/\/[^/]/i.test(written) || !URL.canParse(written)) {
    throw new ServiceError('source_invalid', 'The source must be an absolute http or https URL.');
  }
  const source = new URL(written);
  if (source.username !== '' || source.password !== '') {
    throw new ServiceError(
      'source_invalid',
      'The source URL must not hold a user name or password.',
    );
  }
  source.hash = '';
  return source;
}

/** The value of `fallback`, as the URL standard writes it. */
export const sourceUrl: Value<string> = {
  accepts: 'an absolute http or https URL',
  schema: { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/]', maxLength: maxSourceLength },
  parse(text) {
    if (text !== text.trim()) return undefined;
    try {
      return readSource(text).href;
    } catch {
      return undefined;
    }
  },
};
