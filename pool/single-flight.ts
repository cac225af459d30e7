/**
 * @param signal aborts when no caller waits any more
 * @param promoted aborted as soon as a live caller waits
 */
type Work<V> = (signal: AbortSignal, promoted: AbortSignal) => Promise<V>;

/** One execution of the work for a key. */
interface Call<V> {
  readonly result: Promise<V>;
  readonly controller: AbortController;
  /** Aborted from the start, unless the call began as background work. */
  readonly promotion: AbortController;
  /** Number of waiting callers, and of calls of `retain`. */
  waiting: number;
}

/**
 * The promotion of calls that were live from the start. They share it, because an abort without a reason
 * creates a DOMException with its stack.
 */
const live = new AbortController();
live.abort(new Error('A live request waits.'));

/**
 * Single flight: concurrent callers for a key share one execution of the work. Each caller has its own
 * signal; the work is aborted only when no caller waits any more.
 */
export class SingleFlight<K, V> {
  readonly #calls = new Map<K, Call<V>>();

  /** Calls in progress that can still be joined. */
  get size(): number {
    return this.#calls.size;
  }

  has(key: K): boolean {
    return this.#calls.has(key);
  }

  /**
   * Joins the call for `key`, or starts one and calls `work` synchronously. Rejects with `signal.reason` as
   * soon as the caller's signal aborts, else settles as the work does. An aborted signal starts nothing.
   *
   * @param background true when the caller is background work
   */
  run(key: K, work: Work<V>, signal?: AbortSignal, background = false): Promise<V> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const call = this.#calls.get(key) ?? this.#start(key, work, background);
    return this.#wait(key, call, signal, background);
  }

  /** As `run`, for a key with a call in progress; null without one. */
  join(key: K, signal: AbortSignal, background: boolean): Promise<V> | null {
    const call = this.#calls.get(key);
    if (call === undefined) return null;
    return signal.aborted
      ? Promise.reject(signal.reason)
      : this.#wait(key, call, signal, background);
  }

  #wait(key: K, call: Call<V>, signal: AbortSignal | undefined, background: boolean): Promise<V> {
    call.waiting += 1;
    if (!background) promote(call);
    return new Promise<V>((resolve, reject) => {
      const leave = () => {
        reject(signal?.reason);
        this.#leave(key, call, signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      call.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  }

  /** True when only background work waits for `key`. */
  isBackground(key: K): boolean {
    return this.#calls.get(key)?.promotion.signal.aborted === false;
  }

  /** Promotes the call for `key` because a live request in another process waits for it. */
  promote(key: K): void {
    const call = this.#calls.get(key);
    if (call !== undefined) promote(call);
  }

  /** Aborts all calls in progress. */
  abort(reason: unknown): void {
    for (const { controller } of this.#calls.values()) controller.abort(reason);
  }

  /**
   * Prevents the abort of the call for `key` while another process waits for it, until the returned function
   * is called (idempotent). Returns null when no call is in progress.
   */
  retain(key: K): (() => void) | null {
    const call = this.#calls.get(key);
    if (call === undefined) return null;
    call.waiting += 1;
    let retained = true;
    return () => {
      if (!retained) return;
      retained = false;
      this.#leave(key, call);
    };
  }

  #start(key: K, work: Work<V>, background: boolean): Call<V> {
    const controller = new AbortController();
    const promotion = background ? new AbortController() : live;
    // `async` turns a synchronous throw into a rejection.
    const result = (async () => work(controller.signal, promotion.signal))();
    const call: Call<V> = { result, controller, promotion, waiting: 0 };
    this.#calls.set(key, call);
    // Registered first, so that the key is free when callers get the result. It also handles a rejection
    // without a waiting caller.
    const forget = () => this.#forget(key, call);
    result.then(forget, forget);
    return call;
  }

  #leave(key: K, call: Call<V>, reason?: unknown): void {
    call.waiting -= 1;
    if (call.waiting > 0 || this.#calls.get(key) !== call) return;
    // Removed before the abort, so that the next caller does not join an aborted call.
    this.#forget(key, call);
    call.controller.abort(reason);
  }

  #forget(key: K, call: Call<V>): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key);
  }
}

function promote({ promotion }: Call<unknown>): void {
  if (!promotion.signal.aborted) promotion.abort(live.signal.reason);
}
