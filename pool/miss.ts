import type { SharedWait } from './cache/shared-cache.ts';
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
export class Permit {
  readonly #reserve: (project: string) => () => void;
  readonly #leaveMisses: () => void;
  /** Null before the request for a place; without effect for background work. */
  #leaveQueue: (() => void) | null = null;
  #endRender: (() => void) | undefined;

  /** @param reserve reserves a place in the transform queue. @throws ServiceError overloaded */
  constructor(reserve: (project: string) => () => void, leaveMisses: () => void) {
    this.#reserve = reserve;
    this.#leaveMisses = leaveMisses;
  }

  /**
   * Reserves a place in the transform queue for live work, once.
   * @throws ServiceError overloaded
   */
  enterQueue(project: string, isLive: boolean): void {
    this.#leaveQueue ??= isLive ? this.#reserve(project) : () => {};
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
