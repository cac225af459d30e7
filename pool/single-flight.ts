import { unlessAborted } from './unless-aborted.ts';

/**
 * Whether live requests wait for work. Work that starts in the background becomes live when the
 * first live request waits for it, and stays live.
 */
export class Urgency {
  #isLive: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(start: 'live' | 'background') {
    this.#isLive = start === 'live';
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Makes the work live. */
  promote(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /**
   * Calls a function if background work becomes live.
   * @returns a function that stops this
   */
  onPromotion(listener: () => void): () => void {
    if (!this.#isLive) this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The urgency of work that was live from the start, which shares it. */
export const liveWork = new Urgency('live');

/** @param signal aborts when the last caller leaves */
type Work<V> = (signal: AbortSignal, urgency: Urgency) => Promise<V>;

/** One execution of the work for a key. */
interface Call<V> {
  readonly result: Promise<V>;
  readonly controller: AbortController;
  readonly urgency: Urgency;
  /** Number of waiting callers plus `retain` calls. */
  waiting: number;
}

/**
 * Single flight: concurrent callers for a key share one execution of the work. It alone cancels its
 * work, when the last caller leaves or by `abort`; a caller's own signal ends only its waiting. A
 * caller without a signal never leaves, and `retain` is a caller in another process. In the engine:
 *
 * - misses end when no request in this process and no follower waits
 * - fetches end when no miss and no revalidation waits, and when the service closes
 * - revalidations go on without requests, so that an aborted request does not make the next one
 *   start over, and end when the service closes
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
   * Joins the call for `key`, or starts a call by running `work` synchronously. Rejects with
   * `signal.reason` as soon as the caller's signal aborts; otherwise settles like the work. An
   * aborted signal starts no work.
   *
   * @param background true if the caller is background work
   */
  run(key: K, work: Work<V>, signal?: AbortSignal, background = false): Promise<V> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const call = this.#calls.get(key) ?? this.#start(key, work, background);
    return this.#wait(key, call, signal, background);
  }

  /** Joins like `run`; returns null if the key has no call in progress. */
  join(key: K, signal: AbortSignal, background: boolean): Promise<V> | null {
    const call = this.#calls.get(key);
    if (call === undefined) return null;
    return signal.aborted
      ? Promise.reject(signal.reason)
      : this.#wait(key, call, signal, background);
  }

  #wait(key: K, call: Call<V>, signal: AbortSignal | undefined, background: boolean): Promise<V> {
    call.waiting += 1;
    if (!background) call.urgency.promote();
    if (signal === undefined) return call.result;
    return unlessAborted(call.result, signal, () => this.#leave(key, call, signal.reason));
  }

  /** Returns whether only background work waits for `key`. */
  isBackground(key: K): boolean {
    return this.#calls.get(key)?.urgency.isLive === false;
  }

  /** Promotes the call for `key` because a live request in another process waits for it. */
  promote(key: K): void {
    this.#calls.get(key)?.urgency.promote();
  }

  abort(reason: unknown): void {
    for (const { controller } of this.#calls.values()) controller.abort(reason);
  }

  /**
   * Keeps the call for `key` alive while another process waits for it, until the returned function
   * is called (idempotent). Returns null if the key has no call in progress.
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
    const urgency = background ? new Urgency('background') : liveWork;
    // `async` turns a synchronous throw into a rejection.
    const result = (async () => work(controller.signal, urgency))();
    const call: Call<V> = { result, controller, urgency, waiting: 0 };
    this.#calls.set(key, call);
    // Registered first, so that the key is free when callers receive the result. Also handles a
    // rejection that no caller waits for.
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
