import Negotiator from 'negotiator';

/** Limit for parsing, in characters; the headers of browsers have up to 160. */
export const maxAccept = 1_024;

/**
 * Whether an Accept header (RFC 9110, 12.5.1) prefers a page to JSON, as that of a browser's navigation
 * does. The headers of programs, which accept anything or name JSON, do not.
 */
export function prefersPage(accept: string): boolean {
  if (accept.length > maxAccept || !/text\/(?:html|\*)/i.test(accept)) return false;
  const [best] = new Negotiator({ headers: { accept } }).mediaTypes([
    'application/json',
    'text/html',
  ]);
  return best === 'text/html';
}
