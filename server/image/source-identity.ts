import type { ProjectFreshness } from '../../store/projects.ts';

/** The parameters that presign URLs, by service, as their documentations list them. */
export const presigningParameters: Readonly<Record<string, readonly string[]>> = {
  // Signature versions 4 and 2, and CloudFront.
  aws: `X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires X-Amz-Security-Token X-Amz-Signature
    X-Amz-SignedHeaders AWSAccessKeyId Expires Signature Policy Key-Pair-Id Hash-Algorithm`.split(
    /\s+/,
  ),
  gcs: `X-Goog-Algorithm X-Goog-Credential X-Goog-Date X-Goog-Expires X-Goog-Signature
    X-Goog-SignedHeaders GoogleAccessId Expires Signature`.split(/\s+/),
  azure:
    'sv ss srt sr si se sp spr st sip sig sdd skoid sktid skt ske sks skv saoid suoid scid'.split(
      ' ',
    ),
  firebase: ['token'],
};

const readName = (pair: string): string => new URLSearchParams(pair).keys().next().value ?? '';

/**
 * Returns a source's URL without the parameters that do not identify it, for keys and tags. Fetches
 * use the URL itself.
 */
export function sourceIdentity(url: URL, freshness: ProjectFreshness | undefined): URL {
  const ignored = freshness?.ignoredParameters ?? null;
  if (ignored === null || url.search === '') return url;
  const names = new Set(ignored.flatMap((name) => presigningParameters[name] ?? [name]));
  const pairs = url.search.slice(1).split('&');
  const kept = pairs.filter((pair) => !names.has(readName(pair)));
  if (kept.length === pairs.length) return url;
  const identity = new URL(url);
  identity.search = kept.join('&');
  return identity;
}
