import type { Obtained } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import type { Headers, Response } from '../http/exchange.ts';

/** The headers of every image (spec 4.3, rule 3), and what lets any page embed and read it. */
const constantHeaders: Headers = [
  ['cache-control', 'public, max-age=31536000, immutable'],
  ['accept-ch', 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width'],
  ['vary', 'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width'],
  ['x-content-type-options', 'nosniff'],
  ['access-control-allow-origin', '*'],
  ['cross-origin-resource-policy', 'cross-origin'],
];

/** Server-Timing metrics (W3C), durations in ms. */
function serverTiming({ from, timings }: Pick<Obtained, 'from' | 'timings'>): string {
  const durations = Object.entries(timings).map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`);
  return [`cache;desc=${from}`, ...durations].join(', ');
}

/** The headers of an image's answer. */
export function imageHeaders(
  image: Pick<Image, 'contentType' | 'etag'>,
  origin: Pick<Obtained, 'from' | 'timings'>,
): Headers {
  return [
    ['content-type', image.contentType],
    ['etag', image.etag],
    ...constantHeaders,
    ['x-cache', origin.from],
    ['server-timing', serverTiming(origin)],
  ];
}

/** Whether If-None-Match names an entity tag (RFC 9110, 13.1.2: weak comparison, lists, `*`). */
export function isNotModified(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The answer with an image: 304 when the client has it, else all of it. */
export function imageResponse(image: Image, headers: Headers, ifNoneMatch: string): Response {
  return isNotModified(ifNoneMatch, image.etag)
    ? // RFC 9110, 15.4.5: the headers that a 200 would have, but those of the body.
      { status: 304, headers: headers.filter(([name]) => name !== 'content-type'), body: null }
    : { status: 200, headers, body: image.body };
}
