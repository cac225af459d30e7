import { LRUCache } from 'lru-cache';
import type { MemoryEntry } from '../../pool/cache/memory.ts';
import type { Headers } from '../http/request.ts';
import type { ProjectState } from '../project-cache.ts';

/** A request that was answered before, and all that tells whether the answer still holds. */
export interface CachedResponse {
  readonly project: ProjectState;
  readonly entry: MemoryEntry;
  readonly headers: Headers;
  /** Until when a signed URL may be used, Unix ms; infinite for others. */
  readonly expires: number;
}

/** Each place costs about a kilobyte: the raw request is its key. */
const maxAnswers = 16_384;
/** Longer requests are rare, and would make the places costly. */
const maxKeyLength = 2_048;

/**
 * From raw requests to finished answers, so that a repeated hit skips all parsing and hashing. It
 * keeps no bodies: the memory cache does, and says by the entry when it has let go.
 */
export class ResponseCache {
  readonly #answers = new LRUCache<string, CachedResponse>({ max: maxAnswers });

  get(requestKey: string, now: number): CachedResponse | undefined {
    const answer = this.#answers.get(requestKey);
    if (answer === undefined) return undefined;
    if (answer.entry.image !== null && !answer.project.stale && answer.expires > now) return answer;
    this.#answers.delete(requestKey);
    return undefined;
  }

  set(requestKey: string, answer: CachedResponse): void {
    if (requestKey.length <= maxKeyLength) this.#answers.set(requestKey, answer);
  }

  get count(): number {
    return this.#answers.size;
  }
}
