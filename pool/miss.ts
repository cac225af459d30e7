import type { ImageFreshness } from './freshness.ts';
import type { Inputs } from './inputs.ts';
import type { Urgency } from './single-flight.ts';
import type { FindLoader } from './source/source-loader.ts';
import type { StageObserver } from './stages.ts';
import type { Generation } from './validity.ts';
import type { Variant } from './variant.ts';

/** A request for an image. */
export interface ImageRequest {
  /** The image's cache key. */
  readonly key: string;
  /** Concurrent requests with this text share one render; by default with the same key. */
  readonly flight?: string;
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
}

/** Durations of a miss's steps, in ms; absent for steps that did not run. */
export interface Timings {
  fetch?: number;
  queue?: number;
  transform?: number;
}

/** An image in progress that is not in memory. All requests for its key wait for it. */
export interface Miss {
  /** The request that started the miss. */
  readonly request: ImageRequest;
  /** Aborts when the last waiting request leaves. */
  readonly signal: AbortSignal;
  readonly urgency: Urgency;
  readonly timings: Timings;
}
