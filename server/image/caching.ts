import { hash } from 'node:crypto';
import { canonicalUrl } from '../../contract/hosts.ts';
import type { CacheResult } from '../../pool/engine.ts';
import type { FreshnessReport } from '../../pool/freshness.ts';
import type { Inputs } from '../../pool/inputs.ts';
import type { Project } from '../../store/projects.ts';
import type { Headers } from '../http/request.ts';
import { projectDigits } from './key.ts';

/** For unsigned URLs: another image has another URL. */
export const immutable = 'public, max-age=31536000, immutable';
const maxAgeSeconds = 31_536_000;
/** For an image that another one may replace soon: a stale one, and a provisional one. */
const soonSeconds = 5;

/** What decides how long caches may keep a response. */
export interface Lifetime {
  /**
   * When the URL expires, Unix ms: infinite without signed URLs, and null for a background request, which needs
   * no signature: a CDN must not store its response for clients that need one.
   */
  readonly expires: number | null;
  /** Of the project. */
  readonly freshness: Project['freshness'];
  /** Of the image; absent for a project without a source age. */
  readonly report: FreshnessReport | undefined;
}

/** The caching headers of a response that is not complete. */
export const notStored: Headers = [['cache-control', 'no-store']];

/** Whether the headers of a later response with the image are the same. */
export function isConstant({ expires, report }: Lifetime): boolean {
  return expires === Number.POSITIVE_INFINITY && report === undefined;
}

/**
 * The headers that say how long browsers and CDNs may keep an image.
 *
 * @param result where the image came from, and whether it is provisional
 * @param now Unix ms
 */
export function cachingHeaders(
  { expires, freshness, report }: Lifetime,
  { tier, isProvisional = false }: Pick<CacheResult, 'tier' | 'isProvisional'>,
  now: number,
): Headers {
  if (expires === null) return [['cache-control', 'private, no-store']];
  const { sourceAge = null, browserAge = null } = freshness ?? {};
  const isStale = report !== undefined && report.freshUntil <= now;
  const untilExpiry = Math.min(wholeSeconds(expires - now), maxAgeSeconds);
  const soon = Math.min(untilExpiry, soonSeconds);
  const bound = isStale || isProvisional ? soon : untilExpiry;
  const isConstant = browserAge === null && !isProvisional;
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
 * A source or a layer's file as CDNs know it, equal for all notations of the URL. With the project,
 * so that a purge of one project leaves the images of others.
 */
export const cdnSourceTag = (project: string, url: URL): string =>
  `s-${hash('sha256', `${project} ${canonicalUrl(url).href}`, 'hex').slice(0, 30)}`;

/** All images of a project as CDNs know them: lower-case letters, digits and a hyphen, which every CDN accepts. */
export const cdnProjectTag = (project: string): string => `p-${projectDigits(project)}`;

/**
 * The headers by which a CDN finds the images of a purge.
 *
 * @param names in lower case. Those that end with `key`, as Surrogate-Key and xkey do, separate their tags by
 *   spaces, others by commas.
 */
export function cacheTagHeaders(
  names: readonly string[],
  project: string,
  inputs: Inputs,
): Headers {
  if (names.length === 0) return [];
  const tags = [cdnProjectTag(project), ...inputs.map(({ url }) => cdnSourceTag(project, url))];
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
