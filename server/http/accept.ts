import Negotiator from 'negotiator';

/** Limit for parsing, in characters; browsers' headers have up to 160. */
export const maxAcceptLength = 1_024;

/**
 * Returns whether an Accept header (RFC 9110, 12.5.1) prefers HTML to JSON, as in a browser's
 * navigation. Programs send headers that accept anything, or JSON, which do not.
 */
export const prefersPage = (accept: string): boolean => prefersToJson('text/html', accept);

export const prefersCsv = (accept: string): boolean => prefersToJson('text/csv', accept);

function prefersToJson(type: 'text/html' | 'text/csv', accept: string): boolean {
  if (accept.length > maxAcceptLength || !/\btext\//i.test(accept)) return false;
  const [best] = new Negotiator({ headers: { accept } }).mediaTypes(['application/json', type]);
  return best === type;
}
