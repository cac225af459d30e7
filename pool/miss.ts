import type { ServiceError } from '../contract/errors.ts';
import type { SharedWait } from './cache/shared-cache.ts';
import { FairShare, type Owner } from './fair-share.ts';
import type { ImageFreshness } from './freshness.ts';
import type { Inputs } from './inputs.ts';
import { tooManyTransforms } from './overloaded.ts';
import type { Urgency } from './single-flight.ts';
import type { FindLoader } from './source/source-loader.ts';
import type { StageObserver } from './stages.ts';
import type { Generation } from './validity.ts';
import type { Variant } from './variant.ts';

/** A request for an image. */
export interface ImageRequest {
  /** The image's cache key. */
  readonly key: string;
  /** Project id. Projects share everything limited equally. */
  readonly project: string;
  readonly inputs: Inputs;
  readonly variant: Variant;
  readonly generation: Generation;
  /** Null if the image stays valid until purged. */
  readonly freshness: ImageFreshness | null;
  /** Background work has lower priority than live requests, until a live request waits for it. */
  readonly background: boolean;
  /**
   * An image from the same inputs, which a live request gets if no cache contains the requested
   * image; or null.
   */
  readonly provisional: Pick<ImageRequest, 'key' | 'variant'> | null;
  readonly stages: StageObserver;
  /** Returns the loaders of all inputs. */
  readonly findLoader: FindLoader;
  /**
   * Called before a render and before any fetch. Resolves with a function to call at the render's
   * end; rejects with the error for a project that must not render.
   */
  readonly admitRender: () => Promise<() => void>;
  /** A common time budget for all shared-cache reads; if absent, reads have separate budgets. */
  readonly sharedWait?: SharedWait | undefined;
}

/** Durations of a miss's steps, in ms; absent for steps that did not run. */
export interface Timings {
  fetch?: number;
  queue?: number;
  transform?: number;
}

/** An image in progress that is not in memory. All requests for its key wait for it. */
export class Miss {
  /** The request that started the miss. */
  readonly request: ImageRequest;
  /** Aborts when the last waiting request leaves. */
  readonly signal: AbortSignal;
  readonly urgency: Urgency;
  readonly timings: Timings = {};
  /** Null before a queue slot is requested; does not affect background work. */
  #leaveQueue: (() => void) | null = null;
  #endRender: (() => void) | undefined;

  constructor(request: ImageRequest, signal: AbortSignal, urgency: Urgency) {
    this.request = request;
    this.signal = signal;
    this.urgency = urgency;
  }

  get isLive(): boolean {
    return this.urgency.isLive;
  }

  /**
   * Reserves a transform queue slot for live work, once.
   * @throws ServiceError overloaded
   */
  enterQueue(admission: Admission): void {
    this.#leaveQueue ??= this.isLive ? admission.reserve(this.request.project) : () => {};
  }

  /** Gives up the slot: the transform occupies it now, or will never run. */
  leaveQueue(): void {
    this.#leaveQueue?.();
  }

  /** @throws ServiceError if the project must not render now */
  async beginRender(): Promise<void> {
    this.#endRender = await this.request.admitRender();
  }

  /** Gives up everything that the miss holds. */
  end(): void {
    this.leaveQueue();
    this.#endRender?.();
  }
}

/** Queue slots for live transforms. */
interface Places {
  isFull(project: string): boolean;
  reserve(project: string): () => void;
}

/**
 * Maximum misses in progress. Fetches and transforms have separate limits; this limit bounds
 * requests that wait for the same source, at a few kilobytes each.
 */
const maxMisses = 2_048;
const guaranteedMisses = 32;

/** Decides whether a miss can start, before any fetch for it. */
export class Admission {
  readonly #transforms: Places;
  readonly #share = new FairShare(maxMisses, guaranteedMisses);
  /** Refusals, by exhausted limit. */
  readonly refused = { misses: 0, queue: 0 };

  constructor(transforms: Places) {
    this.#transforms = transforms;
  }

  /**
   * Counts a miss until the caller calls the returned function.
   * @throws ServiceError overloaded if too many misses are in progress
   */
  admit(owner: Owner): () => void {
    if (!this.#share.take(owner, 1)) throw this.#refuse('misses');
    return () => this.#share.release(owner, 1);
  }

  /** Returns whether the transform queue is full for live requests. */
  isFull(project: string): boolean {
    return this.#transforms.isFull(project);
  }

  /** @throws ServiceError overloaded if the transform queue is full */
  requireQueueSlot(project: string): void {
    if (this.isFull(project)) throw this.#refuse('queue');
  }

  /**
   * Reserves a transform queue slot for a live request until the returned function is called.
   * @throws ServiceError overloaded
   */
  reserve(project: string): () => void {
    this.requireQueueSlot(project);
    return this.#transforms.reserve(project);
  }

  #refuse(reason: keyof Admission['refused']): ServiceError {
    this.refused[reason] += 1;
    return tooManyTransforms;
  }
}
