/**
 * @param signal aborts when the last caller has left
 * @param promoted is aborted once a caller waits whose work is not background work
 */
type Work<V> = (signal: AbortSignal, promoted: AbortSignal) => Promise<V>;

/** One run of the work for a key. */
interface Call<V> {
  readonly result: Promise<V>;
  readonly controller: AbortController;
  /** Aborted from the start, unless the call began as background work. */
  readonly promotion: AbortController;
  /** Callers that wait for the result, and those that retain the call for somebody elsewhere. */
  waiting: number;
}

/**
 * Single flight: callers that want the same key at the same time share one run of the work. Every
 * caller may leave by its own signal; the work is aborted only when the last one left.
 */
export class SingleFlight<K, V> {
  readonly #calls = new Map<K, Call<V>>();

  /** Calls in progress that can still be joined. */
  get size(): number {
    return this.#calls.size;
  }

  /**
   * Joins the call for `key`, or starts it by `work`, which is called before this returns.
   * Rejects with `signal.reason` as soon as this caller's own signal aborts, else settles as the
   * work does. With a signal that is aborted already nothing is started or joined.
   *
   * @param background whether this caller's work is background work
   */
  run(key: K, work: Work<V>, signal?: AbortSignal, background = false): Promise<V> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const call = this.#calls.get(key) ?? this.#start(key, work, background);
    call.waiting += 1;
    if (!background) call.promotion.abort();
    return new Promise<V>((resolve, reject) => {
      const leave = () => {
        reject(signal?.reason);
        this.#leave(key, call, signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      call.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  }

  /** Whether the call for `key` is background work, for which no other caller waits yet. */
  isBackground(key: K): boolean {
    return this.#calls.get(key)?.promotion.signal.aborted === false;
  }

  /** A caller in another process waits for the call for `key`, whose work is not background work. */
  promote(key: K): void {
    this.#calls.get(key)?.promotion.abort();
  }

  /**
   * Keeps the call for `key` from being aborted, on behalf of somebody in another process. Returns
   * the function that ends that (harmless when called twice), or null when there is no such call.
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
    const promotion = new AbortController();
    if (!background) promotion.abort();
    // `async` turns a work that throws at once into one that rejects.
    const result = (async () => work(controller.signal, promotion.signal))();
    const call: Call<V> = { result, controller, promotion, waiting: 0 };
    this.#calls.set(key, call);
    // The first reaction on `result`: callers that see the outcome find the key free. It also keeps
    // a rejection for which no caller waits any more from counting as unhandled.
    const forget = () => this.#forget(key, call);
    result.then(forget, forget);
    return call;
  }

  #leave(key: K, call: Call<V>, reason?: unknown): void {
    call.waiting -= 1;
    if (call.waiting > 0 || this.#calls.get(key) !== call) return;
    // Forgotten before the abort, so that the next caller starts the work again instead of joining
    // a call that is aborted but has not settled yet.
    this.#forget(key, call);
    call.controller.abort(reason);
  }

  #forget(key: K, call: Call<V>): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key);
  }
}
