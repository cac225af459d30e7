import { ServiceError } from '../../contract/errors.ts';
import { FairShare, type Owner, RoundRobin } from '../fair-share.ts';
import { unlessAborted } from '../unless-aborted.ts';

/** Maximum background fetches that wait for a slot; more are refused as overloaded. */
const maxWaiting = 1024;
/** Fraction of the slots that each project can take while slots are free. */
const guaranteedPart = 1 / 16;

type State = 'waiting' | 'running' | 'released';

/** A fetch's slot, or its place in the queue. */
export interface FetchSlot {
  /** Resolves when the fetch can start; rejects if the signal aborts first. */
  admitted(signal: AbortSignal): Promise<void>;
  /**
   * Makes a background fetch a live fetch of this owner, because the owner's live request starts to
   * wait for it. Returns false if the owner cannot get more slots: the fetch then stays in the
   * background.
   */
  promote(owner: Owner): boolean;
  /** Frees the slot. Idempotent. */
  release(): void;
}

/**
 * Limits concurrent fetches, in total and per project and host. A live fetch gets a slot
 * immediately or is refused. Background fetches wait for slots, in turn among projects, and use at
 * most half of them.
 */
export class FetchSlots {
  readonly #slots: FairShare;
  readonly #backgroundSlots: FairShare;
  /** Waiting background fetches. */
  readonly #queue = new RoundRobin<{ readonly owner: Owner; readonly run: () => void }>();
  /** Total refused live fetches. */
  rejected = 0;

  constructor(limit: number) {
    this.#slots = shared(limit);
    this.#backgroundSlots = shared(Math.max(1, Math.floor(limit / 2)));
  }

  get limit(): number {
    return this.#slots.limit;
  }

  get running(): number {
    return this.#slots.held;
  }

  /** @throws ServiceError overloaded */
  enter(first: Owner, background: boolean): FetchSlot {
    if (background ? this.#queue.size >= maxWaiting : !this.#slots.allows(first, 1)) {
      throw this.overloaded();
    }
    let owner = first;
    let state: State = 'waiting';
    let live = !background;
    let admit: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      admit = resolve;
    });

    const run = () => {
      this.#queue.delete(first.project, waiting);
      state = 'running';
      this.#slots.add(owner, 1);
      if (!live) this.#backgroundSlots.add(owner, 1);
      admit();
    };
    const waiting = { owner: first, run };
    const release = () => {
      this.#queue.delete(first.project, waiting);
      if (state === 'running') {
        this.#slots.release(owner, 1);
        if (!live) this.#backgroundSlots.release(owner, 1);
      }
      state = 'released';
      this.#next();
    };
    const promote = (promoter: Owner) => {
      if (live || state === 'released') return true;
      if (state === 'waiting' && !this.#slots.allows(promoter, 1)) return false;
      live = true;
      if (state === 'waiting') {
        owner = promoter;
        run();
      } else {
        this.#backgroundSlots.release(owner, 1);
        this.#slots.release(owner, 1);
        owner = promoter;
        this.#slots.add(owner, 1);
        this.#next();
      }
      return true;
    };
    const admitted = (signal: AbortSignal) =>
      state === 'running' ? ready : unlessAborted(ready, signal);

    if (live) run();
    else {
      this.#queue.add(first.project, waiting);
      this.#next();
    }
    return { admitted, promote, release };
  }

  /** Counts a refused live fetch and returns its error. */
  overloaded(): ServiceError {
    this.rejected += 1;
    return new ServiceError('overloaded', 'Too many sources are being fetched.');
  }

  #next(): void {
    const fits = ({ owner }: { readonly owner: Owner }) =>
      this.#slots.allows(owner, 1) && this.#backgroundSlots.allows(owner, 1);
    for (let next = this.#queue.take(fits); next; next = this.#queue.take(fits)) next.run();
  }
}

function shared(limit: number): FairShare {
  return new FairShare(limit, Math.max(1, Math.floor(limit * guaranteedPart)));
}
