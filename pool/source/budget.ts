import { FairShare, type Owner } from '../fair-share.ts';

/** The bytes of one fetch, counted for its owner. */
export interface Reservation {
  /** Counts `bytes` and returns true, or returns false when they exceed the owner's share. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** Part of the limit that each project may hold: an average source or more. */
const guaranteedPart = 1 / 8;

/** Counts bytes of sources in memory against a limit shared by projects and hosts. */
export class ByteBudget {
  readonly #share: FairShare;
  /** Total refused reservations. */
  rejected = 0;

  constructor(limit: number) {
    this.#share = new FairShare(limit, Math.floor(limit * guaranteedPart));
  }

  get limit(): number {
    return this.#share.limit;
  }

  get held(): number {
    return this.#share.held;
  }

  for(owner: Owner): Reservation {
    return {
      reserve: (bytes) => {
        const taken = this.#share.take(owner, bytes);
        if (!taken) this.rejected += 1;
        return taken;
      },
      release: (bytes) => this.#share.release(owner, bytes),
    };
  }

  /** Counts bytes that are already in memory, even beyond the limit. */
  add(owner: Owner, bytes: number): void {
    this.#share.add(owner, bytes);
  }

  release(owner: Owner, bytes: number): void {
    this.#share.release(owner, bytes);
  }
}
