import { ServiceError } from '../contract/errors.ts';
import type { SharedWait } from './cache/shared-cache.ts';
import { FairShare, type Owner } from './fair-share.ts';
import type { ImageFreshness } from './freshness.ts';
import type { Inputs } from './inputs.ts';
import type { LoaderOf } from './source/source-loader.ts';
import type { StageObserver } from './stages.ts';
import type { Generation } from './validity.ts';
import type { Variant } from './variant.ts';

/** A request for an image. */
export interface ImageRequest {
  /** The cache key of the image. */
  readonly key: string;
  /** The project's id. Projects have equal shares of everything limited. */
  readonly project: string;
  readonly inputs: Inputs;
  readonly variant: Variant;
  readonly generation: Generation;
  /** Null for images that are valid until they are purged. */
  readonly freshness: ImageFreshness | null;
  /** Background work has lower priority than live requests, until a live request waits for it. */
  readonly background: boolean;
  /** An image of the same inputs, which a live request gets while no cache has the requested one; null for none. */
  readonly provisional: Pick<ImageRequest, 'key' | 'variant'> | null;
  readonly stages: StageObserver;
  /** Returns the loaders of all inputs. */
  readonly loaderOf: LoaderOf;
  /**
   * Called before a render, with nothing fetched yet. Resolves with a function for its end, or rejects with the
   * error of a project that may not render.
   */
  readonly admitRender: () => Promise<() => void>;
  /** The wait that all reads of the shared cache have together; absent for a wait of each. */
  readonly sharedWait?: SharedWait | undefined;
}

/** Durations of the steps of a miss, in ms; absent for steps that did not run. */
export interface Timings {
  fetch?: number;
  queue?: number;
  transform?: number;
}

/** An image that memory does not have, in progress. All requests for its key wait for it. */
export class Miss {
  /** The request that began it. */
  readonly request: ImageRequest;
  /** Aborts when no request waits for the image any more. */
  readonly signal: AbortSignal;
  /** Aborted as soon as a live request waits for the image. */
  readonly promoted: AbortSignal;
  /** Everything that it holds. */
  readonly permit: Permit;
  readonly timings: Timings = {};

  constructor(request: ImageRequest, signal: AbortSignal, promoted: AbortSignal, permit: Permit) {
    this.request = request;
    this.signal = signal;
    this.promoted = promoted;
    this.permit = permit;
  }

  get isLive(): boolean {
    return this.promoted.aborted;
  }
}

/** The permit of one miss, which carries all that the miss holds until it is released. */
class Permit {
  readonly #admission: Admission;
  readonly #leaveMisses: () => void;
  /** Null before the request for a place; without effect for background work. */
  #leaveQueue: (() => void) | null = null;
  #endRender: (() => void) | undefined;

  constructor(admission: Admission, leaveMisses: () => void) {
    this.#admission = admission;
    this.#leaveMisses = leaveMisses;
  }

  /**
   * Reserves a place in the transform queue for live work, once.
   * @throws ServiceError overloaded
   */
  enterQueue(project: string, isLive: boolean): void {
    this.#leaveQueue ??= isLive ? this.#admission.reserve(project) : () => {};
  }

  /** Gives up the place: the transform itself has it now, or there will be none. */
  leaveQueue(): void {
    this.#leaveQueue?.();
  }

  /** @throws ServiceError of a project that may not render now */
  async beginRender({ admitRender }: ImageRequest): Promise<void> {
    this.#endRender = await admitRender();
  }

  release(): void {
    this.leaveQueue();
    this.#endRender?.();
    this.#leaveMisses();
  }
}

/** The places of live transforms. */
interface Places {
  isFull(project: string): boolean;
  reserve(project: string): () => void;
}

/**
 * Limit of misses in progress. Fetches and transforms have limits of their own; this one bounds the
 * requests that wait for the same source, at a few kilobytes each.
 */
const maxMisses = 2_048;
const guaranteedMisses = 32;

/** One for all, because an error's stack is a twelfth of the CPU time of a refusal. */
const refusal = new ServiceError('overloaded', 'Too many transforms are waiting.');

/** Decides whether a miss may begin, before anything is fetched for it. */
export class Admission {
  readonly #transforms: Places;
  readonly #share = new FairShare(maxMisses, guaranteedMisses);
  /** Total refusals: misses in progress, and places in the transform queue. */
  readonly refused = { misses: 0, queue: 0 };

  constructor(transforms: Places) {
    this.#transforms = transforms;
  }

  /** @throws ServiceError overloaded, when too many misses are in progress */
  admit(owner: Owner): Permit {
    if (!this.#share.take(owner, 1)) throw this.#refuse('misses');
    return new Permit(this, () => this.#share.release(owner, 1));
  }

  /** Whether the transform queue has no place for a live request. */
  isFull(project: string): boolean {
    return this.#transforms.isFull(project);
  }

  /** @throws ServiceError overloaded, when it is full */
  requirePlace(project: string): void {
    if (this.isFull(project)) throw this.#refuse('queue');
  }

  /**
   * Reserves a place in the transform queue for a live request, until the returned function is called.
   * @throws ServiceError overloaded
   */
  reserve(project: string): () => void {
    this.requirePlace(project);
    return this.#transforms.reserve(project);
  }

  #refuse(reason: keyof Admission['refused']): ServiceError {
    this.refused[reason] += 1;
    return refusal;
  }
}
