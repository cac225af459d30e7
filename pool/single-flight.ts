interface Flight<V> {
  readonly landed: Promise<V>;
  readonly controller: AbortController;
  /** Waiters and holders together. */
  riders: number;
}

/**
 * Single flight: callers that want the same key at the same time share one run of the work. Every
 * caller may leave by its own signal; the work is aborted only when the last one left.
 */
export class Flights<K, V> {
  readonly #flights = new Map<K, Flight<V>>();

  /** Flights under way that can still be joined. */
  get size(): number {
    return this.#flights.size;
  }

  /**
   * Joins the flight for `key`, or starts it by `work(signal)`; `work` is called before this returns.
   * Rejects with `signal.reason` as soon as this caller's own signal aborts, else settles as the
   * work does. A caller that comes with an aborted signal starts and joins nothing.
   */
  join(key: K, work: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<V> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.riders += 1;
    return new Promise<V>((resolve, reject) => {
      const leave = () => {
        reject(signal?.reason);
        this.#leave(key, flight, signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      flight.landed
        .then(resolve, reject)
        .finally(() => signal?.removeEventListener('abort', leave));
    });
  }

  /**
   * Holds the flight for `key` open on behalf of someone elsewhere, e.g. in another process.
   * Returns the function that lets go again (harmless when called twice), or null without a flight.
   */
  hold(key: K): (() => void) | null {
    const flight = this.#flights.get(key);
    if (flight === undefined) return null;
    flight.riders += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#leave(key, flight);
    };
  }

  #start(key: K, work: (signal: AbortSignal) => Promise<V>): Flight<V> {
    const controller = new AbortController();
    // `async` turns a work that throws at once into one that rejects.
    const landed = (async () => work(controller.signal))();
    const flight: Flight<V> = { landed, controller, riders: 0 };
    this.#flights.set(key, flight);
    // The first reaction on `landed`: whoever sees the outcome finds the key free. It also keeps a
    // failure that nobody waits for any more from counting as unhandled.
    const land = () => this.#forget(key, flight);
    landed.then(land, land);
    return flight;
  }

  #leave(key: K, flight: Flight<V>, reason?: unknown): void {
    flight.riders -= 1;
    if (flight.riders > 0 || this.#flights.get(key) !== flight) return;
    // Forgotten before the abort, so that whoever comes next starts afresh instead of joining a
    // flight that is doomed but has not settled yet.
    this.#forget(key, flight);
    flight.controller.abort(reason);
  }

  #forget(key: K, flight: Flight<V>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
