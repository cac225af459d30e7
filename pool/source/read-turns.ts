/** Maximum time for parsing responses in one turn of the event loop, in ms: a hit waits no longer for it. */
const maxMsPerTurn = 2;

/** Shares the time of a turn of the event loop among all connections of this process to origins. */
export class ReadTurns {
  #spentMs = 0;
  #isScheduled = false;
  #waiting: (() => void)[] = [];

  /** True when connections must wait for the next turn. */
  get isOver(): boolean {
    return this.#spentMs >= maxMsPerTurn;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.#schedule();
  }

  /** Calls `resume` in one of the next turns, in the order of the calls. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#spentMs = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [index, resume] of waiting.entries()) {
      if (this.isOver) {
        this.#waiting = [...waiting.slice(index), ...this.#waiting];
        this.#schedule();
        return;
      }
      resume();
    }
  }
}
