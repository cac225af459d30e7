import { ServiceError } from '../../contract/errors.ts';

/** Background fetches that may wait; who queues more has to come again later. */
const maxWaiting = 1024;

type State = 'waiting' | 'running' | 'left';

/** One fetch's place. */
export interface FetchSlot {
  /** Resolves when the fetch may start; rejects when the signal aborts before. */
  admitted(signal: AbortSignal): Promise<void>;
  /**
   * Makes a background place a live one, since a live request now waits for it too. False when that
   * is impossible because all places are taken: it then goes on waiting in the background.
   */
  promote(): boolean;
  /** Gives the place back; harmless when called twice. */
  leave(): void;
}

/**
 * Bounds the fetches in flight. A live fetch gets its place at once or is turned away. Background
 * fetches share at most half of the places and wait for them, so that some are always live's own.
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

  /** Live fetches turned away so far. */
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
    const leave = () => {
      this.#queue.delete(run);
      if (state === 'running') {
        this.#running -= 1;
        if (!live) this.#background -= 1;
      }
      state = 'left';
      this.#next();
    };
    const promote = () => {
      if (live || state === 'left') return true;
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
    return { admitted, promote, leave };
  }

  /** Counts a live fetch that is turned away, and says so. */
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
