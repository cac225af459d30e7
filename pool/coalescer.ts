import type { ServiceError } from '../contract/errors.ts';
import type { Image } from './image.ts';

/**
 * What a process that wants to render learns from whoever arranges that a machine renders each key
 * once: it leads, or it gets what the leader of another process made.
 */
export type Place = Leader | { readonly role: 'follower'; readonly image: Image };

export interface Leader {
  readonly role: 'leader';
  /** To be called once, when the image is where another process's cache look-up would find it. */
  land(image: Image): void;
  /** To be called once, instead of `land`. */
  fail(failure: ServiceError | Cancelled): void;
}

/** All that waited in the leading process have left: no failure of the work itself. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

export interface Coordination {
  /**
   * Resolves when this process is to lead, or with the image that another led to. Rejects with the
   * leader's ServiceError, or with the signal's reason.
   * @param live false for background work, which a live follower makes live
   */
  enter(key: string, live: boolean, signal: AbortSignal): Promise<Place>;
}

/** For an engine that shares its caches with nobody. */
export const alone: Coordination = {
  async enter() {
    return { role: 'leader', land() {}, fail() {} };
  },
};
