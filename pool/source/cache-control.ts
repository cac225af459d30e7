/** How long a source may be used without asking its origin, by the origin's response. In seconds. */
export interface OriginFreshness {
  /** `s-maxage` or `max-age` without the response's `Age`, and 0 for `no-cache` and `no-store`; null for none. */
  readonly maxAge: number | null;
  /** RFC 5861, 3; null for none. */
  readonly staleWhileRevalidate: number | null;
  /** RFC 5861, 4; null for none. */
  readonly staleIfError: number | null;
}

/** Of a source whose origin says nothing. */
export const noFreshness: OriginFreshness = {
  maxAge: null,
  staleWhileRevalidate: null,
  staleIfError: null,
};

type Header = string | string[] | undefined;

const maxHeaderLength = 1_024;
/** More than any bound of an operator. */
const maxSeconds = 2 ** 31;

/** Reads the Cache-Control (RFC 9111, 5.2.2) and the Age of an origin's response. */
export function originFreshness(cacheControl: Header, age: Header): OriginFreshness {
  const text = [cacheControl ?? []].flat().join().slice(0, maxHeaderLength).toLowerCase();
  const directives = new Map<string, string>();
  for (const directive of text.split(',')) {
    const [name = '', value = ''] = directive.split('=', 2);
    // RFC 9111, 4.2.1: of repeated directives the first counts.
    if (!directives.has(name.trim())) directives.set(name.trim(), value.trim());
  }
  const read = (name: string): number | null => seconds(directives.get(name) ?? '');
  const isUncached = directives.has('no-cache') || directives.has('no-store');
  const maxAge = isUncached ? 0 : (read('s-maxage') ?? read('max-age'));
  const elapsed = typeof age === 'string' ? (seconds(age.trim()) ?? 0) : 0;
  return {
    maxAge: maxAge === null ? null : Math.max(0, maxAge - elapsed),
    staleWhileRevalidate: read('stale-while-revalidate'),
    staleIfError: read('stale-if-error'),
  };
}

/** A number of seconds (RFC 9111, 1.2.2), also as a quoted string; null for another text. */
function seconds(text: string): number | null {
  const digits = /^"?(\d+)"?$/.exec(text)?.[1];
  return digits === undefined ? null : Math.min(Number(digits), maxSeconds);
}
