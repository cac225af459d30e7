import { setTimeout as sleep } from 'node:timers/promises';
import type { BreakerUse, CircuitBreaker } from '../circuit-breaker.ts';
import type { Bucket } from '../s3/bucket.ts';

const concurrency = 4;
/** No request waits for a write, but its bytes stay in memory. */
const timeoutMs = 10_000;
/** Shorter than the time that a front end has to close. */
const closeWithinMs = 1_500;

interface Write {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/**
 * Writes objects in the background, from a queue with limited bytes. After a lost write the image
 * is rendered again.
 */
export class SharedWrites {
  readonly #bucket: Promise<Bucket>;
  readonly #maxBytes: number;
  readonly #breaker: CircuitBreaker;
  /** Waiting writes, by object key. */
  readonly #waiting = new Map<string, Write>();
  /** Keys being written: two concurrent writes of a key could finish in either order. */
  readonly #writing = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #closed = false;
  /** Bytes of the writes that wait or run. */
  #bytes = 0;
  /** Total writes by outcome, and the bytes of untried writes. */
  readonly totals = { stored: 0, failed: 0, dropped: 0, droppedBytes: 0 };

  constructor(bucket: Promise<Bucket>, maxBytes: number, breaker: CircuitBreaker) {
    this.#bucket = bucket;
    this.#maxBytes = maxBytes;
    this.#breaker = breaker;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces a waiting write of the same key. */
  add(key: string, parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    const replaced = this.#waiting.get(key);
    if (replaced !== undefined) {
      this.#waiting.delete(key);
      this.#bytes -= replaced.bytes;
    }
    if (this.#bytes + bytes > this.#maxBytes || this.#closed) {
      return this.drop(bytes);
    }
    this.#waiting.set(key, { parts, bytes });
    this.#bytes += bytes;
    if (this.#running.size < concurrency) this.#start();
  }

  /**
   * Finishes as many writes as a time limit allows. Destroying the bucket cancels running writes.
   */
  async close(): Promise<void> {
    const timer = new AbortController();
    const late = sleep(closeWithinMs, null, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#running), late]);
    timer.abort();
    this.#closed = true;
  }

  #start(): void {
    const run = this.#run().finally(() => {
      this.#running.delete(run);
      if (this.#next() !== null) this.#start();
    });
    this.#running.add(run);
  }

  #next(): [key: string, write: Write] | null {
    for (const entry of this.#waiting) if (!this.#writing.has(entry[0])) return entry;
    return null;
  }

  async #run(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const [key, { parts, bytes }] = next;
      this.#waiting.delete(key);
      this.#writing.add(key);
      const use = this.#closed ? null : this.#breaker.take();
      if (use === null) this.drop(bytes);
      else await this.#write(key, parts, use);
      this.#writing.delete(key);
      this.#bytes -= bytes;
    }
  }

  async #write(key: string, parts: readonly Uint8Array[], use: BreakerUse): Promise<void> {
    try {
      const bucket = await this.#bucket;
      await bucket.put(key, Buffer.concat(parts), AbortSignal.timeout(timeoutMs));
      this.totals.stored += 1;
      use.succeeded();
    } catch (error) {
      this.totals.failed += 1;
      use.failed(error as Error);
    }
  }

  /** Counts an untried write. */
  drop(bytes: number): void {
    this.totals.dropped += 1;
    this.totals.droppedBytes += bytes;
  }
}
