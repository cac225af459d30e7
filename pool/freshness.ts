import type { ErrorCode } from '../contract/errors.ts';
import type { Validators } from './source/fetch.ts';
import type { OriginFreshness } from './source/response-headers.ts';

/** How a project wants an image to follow its inputs. */
export interface ImageFreshness {
  /** Seconds after which the source is asked again, or `origin` to follow the origin's Cache-Control. */
  readonly sourceAge: number | 'origin';
  /** The keys under which the states of the inputs are cached. */
  readonly stateKeys: readonly string[];
}

/** The operator's bounds, in seconds. */
export interface FreshnessBounds {
  readonly minAge: number;
  readonly maxAge: number;
  /** Time after its age for which an image is kept while its origin fails. */
  readonly staleIfError: number;
}

/** What is known about the bytes of a source. Times are Unix ms. */
export interface SourceState extends Validators {
  /** Images of bytes that were fetched before are outdated. */
  readonly changedAt: number;
  /** The start of the last fetch that got these bytes, or was told that they have not changed. */
  readonly checkedAt: number;
  /** SHA-256 of the bytes; null for a source that does not exist any more. */
  readonly digest: string | null;
  readonly origin: OriginFreshness;
}

/**
 * - `fresh`: used without a question
 * - `stale`: used, and the origin is asked in the background
 * - `expired`: the origin is asked before it is used
 */
export type Freshness = 'fresh' | 'stale' | 'expired';

/** For an origin without `max-age`, in seconds. */
const defaultOriginAge = 3_600;

/** The limits of a source's use after its last check, in ms. */
function limitsOf(
  { origin }: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  bounds: FreshnessBounds,
) {
  const follows = sourceAge === 'origin';
  const wanted = follows ? (origin.maxAge ?? defaultOriginAge) : sourceAge;
  const age = Math.max(bounds.minAge, Math.min(wanted, bounds.maxAge));
  const staleIfError = follows ? (origin.staleIfError ?? bounds.staleIfError) : bounds.staleIfError;
  const whileRevalidate = follows ? origin.staleWhileRevalidate : null;
  return {
    age: age * 1_000,
    whileRevalidate: whileRevalidate === null ? Number.POSITIVE_INFINITY : whileRevalidate * 1_000,
    ifError: Math.min(staleIfError, bounds.staleIfError) * 1_000,
  };
}

/** The time until which a source is fresh, Unix ms. */
export function freshUntil(
  state: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  bounds: FreshnessBounds,
): number {
  return state.checkedAt + limitsOf(state, sourceAge, bounds).age;
}

/** @param failed whether the origin could not be asked the last time */
export function freshnessOf(
  state: SourceState,
  sourceAge: ImageFreshness['sourceAge'],
  bounds: FreshnessBounds,
  now: number,
  failed: boolean,
): Freshness {
  const staleFor = now - freshUntil(state, sourceAge, bounds);
  if (staleFor < 0) return 'fresh';
  const { whileRevalidate, ifError } = limitsOf(state, sourceAge, bounds);
  if (failed) return staleFor < ifError ? 'stale' : 'expired';
  return staleFor < whileRevalidate ? 'stale' : 'expired';
}

/** The freshness of an image, for the headers of a response. */
export interface FreshnessReport {
  /** Unix ms. */
  readonly at: number;
  /** Unix ms; not after `at` for a stale image. */
  readonly freshUntil: number;
  /** The error of the last request to the origin; null when it succeeded. */
  readonly error: ErrorCode | null;
}
