import { hash } from 'node:crypto';
import type { CacheResult } from '../../pool/engine.ts';
import type { Size } from '../../pool/geometry.ts';
import type { Image } from '../../pool/image.ts';
import { plainVariant, type Variant } from '../../pool/variant.ts';
import { embeddableAnywhere } from '../http/headers.ts';
import type { Headers, HttpResponse } from '../http/request.ts';
import { immutable } from './caching.ts';
import { type Conditions, imageHeaders, imageResponse, type UrlHeaders } from './response.ts';
import type { UrlDocument } from './urls/grammar.ts';

/** The facts of a source about the smallest image of it, which `fmt=json` with `w=1` has too. */
export const factsVariant: Variant = {
  ...plainVariant,
  width: 1,
  animated: false,
  placeholder: 'json',
};

/** Reads the upright source size from the source's facts. */
export function sourceSize({ body }: Pick<Image, 'body'>): Size {
  const { width, height } = JSON.parse(Buffer.from(body).toString()).source;
  return { width, height };
}

/** A later release can describe an image in another way. */
const documentCaching = 'public, max-age=3600';

/**
 * Returns the response with a document about a source.
 * @param result of the source's facts
 * @param ofImage the caching headers that an image would get
 */
export function documentResponse(
  { contentType, body }: UrlDocument,
  result: Pick<CacheResult, 'tier' | 'timings'>,
  ofImage: Headers,
  urlHeaders: UrlHeaders,
  conditions: Conditions,
): HttpResponse {
  const etag = `"${hash('sha256', contentType + body, 'base64url').slice(0, 22)}"`;
  const sent = { body: Buffer.from(body), contentType, etag };
  const caching = ofImage.map(
    ([name, value]) => [name, value === immutable ? documentCaching : value] as const,
  );
  return imageResponse(sent, imageHeaders(sent, result, caching, urlHeaders), conditions);
}

/** Redirects to another path of the host. */
export const redirectTo = (location: string): HttpResponse => ({
  status: 303,
  headers: [['location', location], ['cache-control', documentCaching], ...embeddableAnywhere],
  body: '',
});
