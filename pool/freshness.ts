import type { ErrorCode } from '../contract/errors.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Validators } from './source/fetch.ts';
import type { OriginFreshness } from './source/response-headers.ts';

/** How a project wants an image to follow its inputs. */
export interface ImageFreshness {
  /**
   * Maximum age of a source before revalidation, in seconds, or `origin` to follow the origin's
   * Cache-Control.
   */
  readonly sourceAge: number | 'origin';
  /** Cache keys of the inputs' states. */
  readonly stateKeys: readonly string[];
}

/** The operator's bounds, in seconds. */
export type FreshnessBounds = Pick<
  Settings,
  'sourceMinAgeSeconds' | 'sourceMaxAgeSeconds' | 'staleIfErrorSeconds'
>;

/** A source's last known state. Times are Unix ms. */
export interface SourceState extends Validators {
  /** Images rendered from earlier bytes are outdated. */
  readonly changedAt: number;
  /** Start of the last fetch that received or confirmed these bytes. */
  readonly checkedAt: number;
  /** SHA-256 of the bytes; null if the source has disappeared. */
  readonly digest: string | null;
  readonly origin: OriginFreshness;
}

/**
 * - `fresh`: used without revalidation
 * - `stale`: used, and revalidated in the background
 * - `expired`: revalidated before use
 */
export type Freshness = 'fresh' | 'stale' | 'expired';

/** For an origin without `max-age`, in seconds. */
const defaultOriginAge = 3_600;

/** Returns how long a source can be used after its last check, in ms. */
function computeLimits(
  { origin }: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  { sourceMinAgeSeconds, sourceMaxAgeSeconds, staleIfErrorSeconds }: FreshnessBounds,
) {
  const follows = sourceAge === 'origin';
  const wanted = follows ? (origin.maxAge ?? defaultOriginAge) : sourceAge;
  const age = Math.max(sourceMinAgeSeconds, Math.min(wanted, sourceMaxAgeSeconds));
  const staleIfError = (follows ? origin.staleIfError : null) ?? staleIfErrorSeconds;
  const whileRevalidate = follows ? origin.staleWhileRevalidate : null;
  return {
    age: age * 1_000,
    whileRevalidate: whileRevalidate === null ? Number.POSITIVE_INFINITY : whileRevalidate * 1_000,
    ifError: Math.min(staleIfError, staleIfErrorSeconds) * 1_000,
  };
}

/** Returns the time until which a source is fresh, Unix ms. */
export function freshUntil(
  state: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  bounds: FreshnessBounds,
): number {
  return state.checkedAt + computeLimits(state, sourceAge, bounds).age;
}

/** @param failed whether the last revalidation failed */
export function computeFreshness(
  state: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  bounds: FreshnessBounds,
  now: number,
  failed: boolean,
): Freshness {
  const staleFor = now - freshUntil(state, sourceAge, bounds);
  if (staleFor < 0) return 'fresh';
  const { whileRevalidate, ifError } = computeLimits(state, sourceAge, bounds);
  if (failed) return staleFor < ifError ? 'stale' : 'expired';
  return staleFor < whileRevalidate ? 'stale' : 'expired';
}

/** An image's freshness, for a response's headers. */
export interface FreshnessReport {
  /** Unix ms. */
  readonly at: number;
  /** Unix ms; not after `at` for a stale image. */
  readonly freshUntil: number;
  /** The error of the last request to the origin; null when it succeeded. */
  readonly error: ErrorCode | null;
}
