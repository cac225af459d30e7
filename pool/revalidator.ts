import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import type { DiskCache } from './cache/disk.ts';
import { Cancelled, type Coalescer } from './coalescer.ts';
import { FairShare } from './fair-share.ts';
import {
  computeFreshness,
  type Freshness,
  type FreshnessBounds,
  type FreshnessReport,
  freshUntil,
  type ImageFreshness,
  type SourceState,
} from './freshness.ts';
import type { InputFacts } from './image.ts';
import { errorOfInput, type Input, isInputFailure } from './inputs.ts';
import type { ImageRequest, Miss } from './miss.ts';
import { shuttingDown } from './overloaded.ts';
import { SingleFlight, type Urgency } from './single-flight.ts';
import type { NotModified, OriginResponse, Validators } from './source/fetch.ts';
import { noFreshness } from './source/response-headers.ts';
import type { SourceLease } from './source/sources.ts';
import { unlessAborted } from './unless-aborted.ts';
import { isUpToDate } from './validity.ts';

/** A revalidation's abort signal and urgency. */
type Work = Pick<Miss, 'signal' | 'urgency'>;

export interface RevalidatorEnvironment {
  /** The disk cache keeps states for other processes, and across restarts. */
  readonly caches: { readonly disk: Pick<DiskCache, 'readState' | 'write'> | null };
  readonly coalescer: Coalescer;
  readonly bounds: FreshnessBounds;
  /**
   * Revalidates an input with its origin, with the urgency of the requests that wait for it.
   * @throws ServiceError, including for changed bytes that are not a supported image, or the
   *   signal's reason
   */
  readonly revalidate: (
    request: ImageRequest,
    input: Input,
    validators: Validators,
    work: Work,
  ) => Promise<SourceLease | NotModified>;
  /** Unix ms. */
  readonly now: () => number;
}

/** An input that a request's image follows. */
interface FollowedInput {
  readonly request: ImageRequest;
  readonly sourceAge: ImageFreshness['sourceAge'];
  readonly input: Input;
  /** Among the inputs of the request. */
  readonly index: number;
  /** The state's cache key. */
  readonly key: string;
}

interface Known {
  /** Null if the disk lacks the state, or the source's only request failed. */
  readonly state: SourceState | null;
  /** The last request to the origin; null if it succeeded. */
  readonly failure: Failure | null;
}

interface Failure {
  readonly error: ServiceError;
  /** Unix ms. */
  readonly at: number;
  readonly url: string;
}

/** Some 10 MB with average validators. */
const maxKnown = 20_000;
/**
 * Maximum background revalidations, fewer than the fetches that can wait in the background; a later
 * hit repeats a skipped revalidation.
 */
const maxInBackground = 512;
const guaranteedInBackground = 16;
/** Time before the disk is checked again for a missing state, ms. */
const absentMs = 5_000;
/** Time before a failing origin is requested again, ms. */
const retryAfterMs = 10_000;
/** The same for another URL of the source: only the first URL's signature might be wrong. */
const otherUrlAfterMs = 1_000;

/**
 * Tracks when sources were last revalidated, and revalidates them: once per machine at a time,
 * without rendering.
 */
export class Revalidator {
  readonly #environment: RevalidatorEnvironment;
  readonly #known = new LRUCache<string, Known>({ max: maxKnown });
  readonly #running = new SingleFlight<string, void>();
  readonly #backgroundShare = new FairShare(maxInBackground, guaranteedInBackground);
  /** Total outcomes of origins. */
  readonly outcomes = { notModified: 0, sameBytes: 0, changed: 0, gone: 0, failed: 0 };

  constructor(environment: RevalidatorEnvironment) {
    this.#environment = environment;
  }

  close(): void {
    this.#running.abort(shuttingDown);
  }

  /**
   * Loads the states of a request's inputs. Revalidates an input first if it is expired, or if it
   * is stale and the request is background work, which should bring the caches up to date.
   * @throws ServiceError of an origin that failed for longer than its images can be kept, or the
   *   signal's reason
   */
  async check(request: ImageRequest, signal: AbortSignal): Promise<void> {
    for (const followed of followedInputs(request)) {
      await this.#load(followed);
      const freshness = this.#freshness(followed);
      if (freshness === 'expired' || (freshness === 'stale' && request.background)) {
        const revalidation = this.#revalidate(followed, request.background);
        const error = await unlessAborted(revalidation.then(noError, serviceError), signal);
        if (error !== null && this.#freshness(followed, true) === 'expired') {
          throw errorOfInput(request.variant, followed.input, error);
        }
      }
    }
  }

  /** See {@link StatesOf}. */
  states({ freshness }: Pick<ImageRequest, 'freshness'>): readonly (SourceState | null)[] {
    return (freshness?.stateKeys ?? []).map((key) => this.#get(key)?.state ?? null);
  }

  /**
   * Revalidates in the background the source of an image delivered from a cache, unless the source
   * is fresh.
   */
  refresh(request: ImageRequest): void {
    const owner = { project: request.project, host: request.inputs[0].url.host };
    for (const followed of followedInputs(request)) {
      const isRunning = this.#running.has(followed.key);
      if (isRunning || this.#freshness(followed) === 'fresh') continue;
      if (!this.#backgroundShare.take(owner, 1)) return;
      this.#revalidate(followed, true)
        .catch(() => {})
        .finally(() => this.#backgroundShare.release(owner, 1));
    }
  }

  /** Records the bytes of inputs fetched for an image. */
  fetched(request: ImageRequest, leases: readonly SourceLease[]): void {
    for (const followed of followedInputs(request)) {
      const { key, index } = followed;
      const lease = leases[index];
      if (lease === undefined || this.#freshness(followed) === 'fresh') continue;
      void this.#keep(key, toState(lease, this.#get(key)?.state ?? null), request);
    }
  }

  report(
    { freshness }: { readonly freshness: ImageFreshness },
    image: InputFacts,
  ): FreshnessReport {
    const { bounds, now } = this.#environment;
    const at = now();
    const { stateKeys, sourceAge } = freshness;
    const known = stateKeys.map((key) => this.#get(key));
    const isCurrent = isUpToDate(image, this.states({ freshness }), at);
    const until = known.map((entry) =>
      isCurrent && entry?.state != null ? freshUntil(entry.state, sourceAge, bounds) : at,
    );
    const failed = known.find((entry) => entry?.failure != null);
    return { at, freshUntil: Math.min(...until), error: failed?.failure?.error.code ?? null };
  }

  /** Returns the cached state, unless the clock was set back. */
  #get(key: string): Known | null {
    const known = this.#known.get(key) ?? null;
    if (known === null) return null;
    return (known.state?.checkedAt ?? 0) <= this.#environment.now() ? known : null;
  }

  /** Returns `stale` if the source's state is unknown. */
  #freshness({ key, sourceAge }: FollowedInput, hasFailed = false): Freshness {
    const { state = null, failure = null } = this.#get(key) ?? {};
    if (state === null) return 'stale';
    const { bounds, now } = this.#environment;
    return computeFreshness(state, sourceAge, bounds, now(), hasFailed || failure !== null);
  }

  /** Reads an unknown state from the disk; not again for some seconds if it is missing there. */
  async #load({ key }: FollowedInput): Promise<void> {
    if (this.#get(key) !== null) return;
    const state = (await this.#environment.caches.disk?.readState(key)) ?? null;
    // The origin might have responded meanwhile.
    if (this.#get(key) !== null) return;
    this.#known.set(key, { state, failure: null }, state === null ? { ttl: absentMs } : {});
  }

  #set(key: string, state: SourceState | null, failure: Failure | null = null): void {
    this.#known.set(key, { state, failure });
  }

  #revalidate(followed: FollowedInput, background: boolean): Promise<void> {
    const { key } = followed;
    const { href } = followed.input.url;
    const failure = this.#get(key)?.failure ?? null;
    if (failure !== null) {
      const pauseMs = failure.url === href ? retryAfterMs : otherUrlAfterMs;
      if (this.#environment.now() - failure.at < pauseMs) return Promise.reject(failure.error);
    }
    const start = (signal: AbortSignal, urgency: Urgency) =>
      this.#revalidateOnce(followed, { signal, urgency }).catch((error: unknown) => {
        if (isInputFailure(error)) this.#fail(key, error, href);
        throw error;
      });
    // Runs to its end: an aborted request must not make the next request start over.
    return this.#running.run(key, start, undefined, background);
  }

  #fail(key: string, error: ServiceError, url: string): void {
    const state = this.#get(key)?.state ?? null;
    this.#set(key, state, { error, at: this.#environment.now(), url });
  }

  /** Leads for the machine, or receives the state as a follower. */
  async #revalidateOnce(followed: FollowedInput, work: Work): Promise<void> {
    const { key } = followed;
    const role = await this.#environment.coalescer.join(key, {
      live: work.urgency.isLive,
      signal: work.signal,
      retain: () => this.#running.retain(key),
      promote: () => this.#running.promote(key),
    });
    if (role.role === 'follower') {
      const state = role.result;
      if (!('body' in state) && !this.#isOutdated(key, state)) this.#set(key, state);
      return;
    }
    try {
      role.succeed(await this.#lead(followed, work));
    } catch (error) {
      const isOutcome = error instanceof ServiceError && !work.signal.aborted;
      role.fail(isOutcome ? error : new Cancelled());
      throw error;
    }
  }

  /** Returns the state from the disk, if another process stored it, or else from the origin. */
  async #lead(followed: FollowedInput, work: Work): Promise<SourceState> {
    const { key, request } = followed;
    const stored = (await this.#environment.caches.disk?.readState(key)) ?? null;
    const before = this.#get(key)?.state ?? null;
    if (stored !== null && stored.checkedAt > (before?.checkedAt ?? 0)) {
      this.#set(key, stored);
      if (this.#freshness(followed) === 'fresh') return stored;
    }
    const known = this.#get(key)?.state ?? null;
    const state = await this.#revalidateInput(followed, known, work);
    await this.#keep(key, state, request);
    return state;
  }

  async #revalidateInput(
    { request, input }: FollowedInput,
    before: SourceState | null,
    work: Work,
  ): Promise<SourceState> {
    const { revalidate, now } = this.#environment;
    const at = now();
    try {
      const answer = await revalidate(request, input, before ?? noValidators, work);
      if (answer.bytes === null) {
        if (before === null) throw new Error('an unconditional request got 304');
        this.outcomes.notModified += 1;
        return notModified(before, answer, at);
      }
      const state = toState(answer, before);
      answer.release();
      this.outcomes[state.changedAt === before?.changedAt ? 'sameBytes' : 'changed'] += 1;
      return state;
    } catch (error) {
      const isGone = error instanceof ServiceError && error.code === 'source_not_found';
      this.outcomes[isGone ? 'gone' : 'failed'] += 1;
      if (!isGone) throw error;
      return { changedAt: at, checkedAt: at, digest: null, ...noValidators, origin: noFreshness };
    }
  }

  /** Returns whether a fetch that started later has already provided a state. */
  #isOutdated(key: string, { checkedAt }: SourceState): boolean {
    return checkedAt < (this.#get(key)?.state?.checkedAt ?? 0);
  }

  async #keep(key: string, state: SourceState, request: ImageRequest): Promise<void> {
    if (!request.generation.isCurrent() || this.#isOutdated(key, state)) return;
    this.#set(key, state);
    await this.#environment.caches.disk?.write(key, state);
  }
}

const noValidators: Validators = { resource: null, etag: null, lastModified: null };

const noError = () => null;

/** @throws any other error unchanged */
function serviceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
}

function followedInputs(request: ImageRequest): FollowedInput[] {
  const { freshness } = request;
  if (freshness === null) return [];
  const { sourceAge, stateKeys } = freshness;
  return stateKeys.flatMap((key, index) => {
    const input = request.inputs[index];
    return input === undefined ? [] : [{ request, sourceAge, input, index, key }];
  });
}

/** Returns a source's state after new bytes arrived. */
function toState(lease: SourceLease, before: SourceState | null): SourceState {
  const { fetchedAt, validators, freshness } = lease;
  const digest = lease.digest();
  const changedAt = before !== null && digest === before.digest ? before.changedAt : fetchedAt;
  return { changedAt, checkedAt: fetchedAt, digest, ...validators, origin: freshness };
}

/** Merges a 304's headers, which replace the stored headers of the same name (RFC 9111, 4.3.4). */
function notModified(before: SourceState, { validators, freshness }: OriginResponse, at: number) {
  const hasFreshness = Object.values(freshness).some((seconds) => seconds !== null);
  return {
    ...before,
    checkedAt: at,
    etag: validators.etag ?? before.etag,
    lastModified: validators.lastModified ?? before.lastModified,
    origin: hasFreshness ? freshness : before.origin,
  };
}
