import type { ServiceError } from '../contract/errors.ts';
import type { Cached } from './cache/file.ts';

/**
 * A process's role for a cache key that several processes can work on concurrently: the leader
 * renders the image or revalidates the source, and a follower receives the leader's result.
 */
export type Role = Leader | { readonly role: 'follower'; readonly result: Cached };

export interface Leader {
  readonly role: 'leader';
  /** Whether another process can have stored the image since this process last read the disk. */
  readonly mayBeStored: boolean;
  /** Called once, after the result is in the disk cache, where other processes can read it. */
  succeed(result: Cached): void;
  /** Called once, instead of `succeed`. */
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
  /** Aborts when this process no longer needs the result. */
  readonly signal: AbortSignal;
  /** Keeps the work alive while followers wait, until the returned function is called. */
  retain(): (() => void) | null;
  /** Called when live requests in other processes wait for this background work. */
  promote(): void;
}

/** Single flight across processes: at most one process of the machine renders a key at a time. */
export interface Coalescer {
  /**
   * Resolves as the leader when this process must do the work, or as a follower with the leader's
   * result. Rejects with the leader's ServiceError, or with the signal's reason.
   */
  join(key: string, participant: Participant): Promise<Role>;
}

/** For an engine that uses its disk cache alone, except while a successor replaces it. */
export const onlyProcess: Coalescer = {
  async join() {
    return { role: 'leader', mayBeStored: false, succeed() {}, fail() {} };
  },
};
