import type { ServiceError } from '../contract/errors.ts';
import type { Image } from './image.ts';

/**
 * The role of a process for a cache key that several processes may render at the same time: the leader
 * renders the image, a follower receives the leader's image.
 */
export type Role = Leader | { readonly role: 'follower'; readonly image: Image };

export interface Leader {
  readonly role: 'leader';
  /** True when another process may have stored the image since this one last read the disk. */
  readonly mayBeStored: boolean;
  /** Call once, after the image is in the disk cache, where other processes can read it. */
  succeed(image: Image): void;
  /** Call once, instead of `succeed`. */
  fail(error: ServiceError | Cancelled): void;
}

/** All requests waiting in the leading process were aborted; the work itself did not fail. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** The state that a joining process reports, and the operations that a leader must provide. */
export interface Participant {
  /** False for background work. */
  readonly live: boolean;
  /** Aborts when this process no longer needs the image. */
  readonly signal: AbortSignal;
  /** Prevents the abort of the work while followers wait, until the returned function is called. */
  retain(): (() => void) | null;
  /** Live requests in other processes wait for this background work. */
  promote(): void;
}

/** Single flight across processes: at most one process of the machine renders a key at a time. */
export interface Coalescer {
  /**
   * Resolves as the leader when this process must render the image, or as a follower with the leader's
   * image. Rejects with the leader's ServiceError, or with the signal's reason.
   */
  join(key: string, participant: Participant): Promise<Role>;
}

/** For an engine that is the only one on its disk cache, except while another one replaces it. */
export const onlyProcess: Coalescer = {
  async join() {
    return { role: 'leader', mayBeStored: false, succeed() {}, fail() {} };
  },
};
