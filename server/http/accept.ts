import Negotiator from 'negotiator';

/** Limit for parsing, in characters; the headers of browsers have up to 160. */
export const maxAcceptLength = 1_024;

/**
 * Whether an Accept header (RFC 9110, 12.5.1) prefers HTML to JSON, such as that of a browser's navigation.
 * The headers of programs, which accept anything or JSON, do not.
 */
export const prefersPage = (accept: string): boolean => prefersToJson('text/html', accept);

export const prefersCsv = (accept: string): boolean => prefersToJson('text/csv', accept);

function prefersToJson(type: 'text/html' | 'text/csv', accept: string): boolean {
  if (accept.length > maxAcceptLength || !/\btext\//i.test(accept)) return false;
  const [best] = new Negotiator({ headers: { accept } }).mediaTypes(['application/json', type]);
  return best === type;
}
