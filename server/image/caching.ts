import { hash } from 'node:crypto';
import { canonicalUrl } from '../../contract/hosts.ts';
import type { CacheResult } from '../../pool/engine.ts';
import type { FreshnessReport } from '../../pool/freshness.ts';
import type { Image, ImageWarning } from '../../pool/image.ts';
import type { Input } from '../../pool/inputs.ts';
import type { Project } from '../../store/projects.ts';
import type { Headers } from '../http/responses.ts';
import { projectDigits } from './key.ts';

/** For unsigned URLs: another image has another URL. */
export const immutable = 'public, max-age=31536000, immutable';
const maxAgeSeconds = 31_536_000;
/** For images that will soon be replaced: stale and provisional images. */
const soonSeconds = 5;
/** For images with temporary warnings. */
const temporarySeconds = 60;
/** A font might be added soon, and a source might still be uploading. */
const temporaryWarnings: ReadonlySet<ImageWarning> = new Set([
  'text_missing_glyphs',
  'source_incomplete',
]);

export interface Lifetime {
  /**
   * The URL's expiry, Unix ms: infinite for unsigned URLs, and null for background requests.
   * Background requests need no signature, so a CDN must not store their responses for clients that
   * need one.
   */
  readonly expires: number | null;
  readonly freshness: Project['freshness'];
  /** The image's report; absent for projects that set no source age. */
  readonly report: FreshnessReport | undefined;
}

type CachedImage = Pick<CacheResult, 'tier' | 'isProvisional'> & {
  readonly image?: Pick<Image, 'warnings'>;
};

/** Returns whether a later render will probably look better. */
export const isTemporary = (image: Pick<Image, 'warnings'> | undefined): boolean =>
  image?.warnings?.some((warning) => temporaryWarnings.has(warning)) === true;

export const notStored: Headers = [['cache-control', 'no-store']];

/**
 * Returns the caching headers of a missing source's error, and of the fallback in its place.
 *
 * @param seconds for projects that set no age
 * @param now Unix ms
 */
export function missingHeaders(
  { expires, freshness }: Pick<Lifetime, 'expires' | 'freshness'>,
  seconds: number,
  now: number,
): Headers {
  const untilExpiry = expires === null ? 0 : wholeSeconds(expires - now);
  const age = Math.min(freshness?.missingAge ?? seconds, untilExpiry);
  return age === 0 ? notStored : [['cache-control', `public, max-age=${age}`]];
}

/** Returns whether later responses with the image have the same headers. */
export function isConstant({ expires, report }: Lifetime): boolean {
  return expires === Number.POSITIVE_INFINITY && report === undefined;
}

/**
 * Returns the headers that limit how long browsers and CDNs keep an image.
 *
 * @param result where the image came from, and whether it is provisional
 * @param now Unix ms
 */
export function cachingHeaders(
  { expires, freshness, report }: Lifetime,
  { tier, isProvisional = false, image }: CachedImage,
  now: number,
): Headers {
  if (expires === null) return [['cache-control', 'private, no-store']];
  const { sourceAge = null, browserAge = null } = freshness ?? {};
  const isStale = report !== undefined && report.freshUntil <= now;
  const untilExpiry = Math.min(wholeSeconds(expires - now), maxAgeSeconds);
  const isReplacedSoon = isProvisional || isTemporary(image);
  const shortTtl = isStale || isProvisional ? soonSeconds : temporarySeconds;
  const bound = isStale || isReplacedSoon ? Math.min(untilExpiry, shortTtl) : untilExpiry;
  const isConstant = browserAge === null && !isReplacedSoon;
  const isImmutable = isConstant && expires === Number.POSITIVE_INFINITY;
  const browserSeconds = isConstant ? untilExpiry : Math.min(browserAge ?? bound, bound);
  const control = isImmutable ? immutable : `public, max-age=${browserSeconds}`;
  if (sourceAge === null && browserAge === null) return [['cache-control', control]];

  const untilStale =
    report === undefined || isStale ? bound : wholeSeconds(report.freshUntil - now);
  const cdnSeconds = Math.min(bound, untilStale);
  const headers: (readonly [string, string])[] = [
    ['cache-control', control],
    ['cdn-cache-control', `public, max-age=${cdnSeconds}`],
    ['surrogate-control', `max-age=${cdnSeconds}`],
  ];
  if (report !== undefined) headers.push(['cache-status', cacheStatus(report, tier, now)]);
  return headers;
}

/** RFC 9211. */
function cacheStatus(
  { freshUntil, error }: FreshnessReport,
  tier: CacheResult['tier'],
  now: number,
): string {
  const parts = ['ImageDelivery', tier === 'miss' ? 'fwd=miss' : 'hit'];
  parts.push(`ttl=${Math.floor((freshUntil - now) / 1_000)}`);
  if (error !== null) parts.push(`detail=${error}`);
  return parts.join('; ');
}

const wholeSeconds = (ms: number): number => Math.max(0, Math.floor(ms / 1_000));

/**
 * Returns the CDN tag of a source or a layer file, equal for all spellings of its URL. The tag
 * includes the project, so that a purge does not affect other projects.
 */
export const cdnSourceTag = (project: string, url: URL): string =>
  `s-${hash('sha256', `${project} ${canonicalUrl(url).href}`, 'hex').slice(0, 30)}`;

/**
 * Returns the CDN tag of all the project's images: lower-case letters, digits and a hyphen, which
 * every CDN accepts.
 */
export const cdnProjectTag = (project: string): string => `p-${projectDigits(project)}`;

/**
 * Returns the headers with the tags that CDNs purge images by.
 *
 * @param names in lower case. Those ending in `key`, such as Surrogate-Key and xkey, separate tags
 *   by spaces, others by commas.
 */
export function cacheTagHeaders(
  names: readonly string[],
  project: string,
  inputs: readonly Pick<Input, 'identity'>[],
): Headers {
  if (names.length === 0) return [];
  const tags = [
    cdnProjectTag(project),
    ...inputs.map(({ identity }) => cdnSourceTag(project, identity)),
  ];
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
