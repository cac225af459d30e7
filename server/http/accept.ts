import Negotiator from 'negotiator';

/** The longest Accept header that is read, in characters; those of browsers have up to 160. */
export const maxAccept = 1_024;

/**
 * Whether a client that sends this Accept header (RFC 9110, 12.5.1) asks for a page rather than for
 * JSON, as browsers do when they navigate. Programs, which accept anything or name JSON, do not.
 */
export function prefersPage(accept: string): boolean {
  // Most requests, without parsing.
  if (accept.length > maxAccept || !/text\/(?:html|\*)/i.test(accept)) return false;
  const [best] = new Negotiator({ headers: { accept } }).mediaTypes([
    'application/json',
    'text/html',
  ]);
  return best === 'text/html';
}
