import type { ServiceError } from '../contract/errors.ts';
import type { Image } from './image.ts';

/**
 * The role of a process in rendering a key that several processes of the machine may want: the
 * leader renders, and a follower gets the leader's image.
 */
export type Role = Leader | { readonly role: 'follower'; readonly image: Image };

export interface Leader {
  readonly role: 'leader';
  /** To be called once, when the image is where another process's look at the disk cache finds it. */
  succeed(image: Image): void;
  /** To be called once, instead of `succeed`. */
  fail(error: ServiceError | Cancelled): void;
}

/** All requests that waited in the leading process have left: no failure of the work itself. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** What a process tells of itself when it joins, and what a leader can be asked for. */
export interface Participant {
  /** False for background work. */
  readonly live: boolean;
  /** Aborts when this process does not want the image any more. */
  readonly signal: AbortSignal;
  /** Followers elsewhere wait: the work must not be aborted until the returned function is called. */
  retain(): (() => void) | null;
  /** Live requests elsewhere wait for this background work. */
  promote(): void;
}

/** Sees to it that a machine renders each key once at a time. */
export interface Coalescer {
  /**
   * Resolves when this process is to lead, or with the image of another that led. Rejects with the
   * leader's ServiceError, or with the signal's reason.
   */
  join(key: string, participant: Participant): Promise<Role>;
}

/** For an engine that shares its caches with no other process. */
export const onlyProcess: Coalescer = {
  async join() {
    return { role: 'leader', succeed() {}, fail() {} };
  },
};
