import { ServiceError } from '../../contract/errors.ts';

/** Maximum background fetches that wait for a slot; further ones are refused as overloaded. */
const maxWaiting = 1024;

type State = 'waiting' | 'running' | 'released';

/** The slot of one fetch, or its place in the queue for one. */
export interface FetchSlot {
  /** Resolves when the fetch may start; rejects when the signal aborts first. */
  admitted(signal: AbortSignal): Promise<void>;
  /**
   * Promotes a background fetch to a live one, when a live request begins to wait for it. False
   * when all slots are in use: the fetch then keeps waiting as a background fetch.
   */
  promote(): boolean;
  /** Frees the slot. Idempotent. */
  release(): void;
}

/**
 * Limits concurrent fetches. A live fetch gets a slot at once or is refused. Background fetches
 * wait for a slot and use at most half of them, so that the other half is reserved for live
 * fetches.
 */
export class FetchSlots {
  readonly limit: number;
  readonly #backgroundLimit: number;
  readonly #queue = new Set<() => void>();
  #running = 0;
  #background = 0;
  #rejected = 0;

  constructor(limit: number) {
    this.limit = limit;
    this.#backgroundLimit = Math.max(1, Math.floor(limit / 2));
  }

  get running(): number {
    return this.#running;
  }

  /** Total live fetches that were refused. */
  get rejected(): number {
    return this.#rejected;
  }

  /** @throws ServiceError overloaded */
  enter(background: boolean): FetchSlot {
    if (background ? this.#queue.size >= maxWaiting : this.#running >= this.limit) {
      throw this.overloaded();
    }
    let state: State = 'waiting';
    let live = !background;
    let admit: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      admit = resolve;
    });

    const run = () => {
      this.#queue.delete(run);
      state = 'running';
      this.#running += 1;
      if (!live) this.#background += 1;
      admit();
    };
    const release = () => {
      this.#queue.delete(run);
      if (state === 'running') {
        this.#running -= 1;
        if (!live) this.#background -= 1;
      }
      state = 'released';
      this.#next();
    };
    const promote = () => {
      if (live || state === 'released') return true;
      if (state === 'waiting' && this.#running >= this.limit) return false;
      live = true;
      if (state === 'waiting') run();
      else {
        this.#background -= 1;
        this.#next();
      }
      return true;
    };
    const admitted = (signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        const abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        ready.then(resolve).finally(() => signal.removeEventListener('abort', abort));
      });

    if (live) run();
    else {
      this.#queue.add(run);
      this.#next();
    }
    return { admitted, promote, release };
  }

  /** Counts a refused live fetch and returns its error. */
  overloaded(): ServiceError {
    this.#rejected += 1;
    return new ServiceError('overloaded', 'Too many sources are being fetched.');
  }

  #next(): void {
    for (const run of this.#queue) {
      if (this.#running >= this.limit || this.#background >= this.#backgroundLimit) return;
      run();
    }
  }
}
