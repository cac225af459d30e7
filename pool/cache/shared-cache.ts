import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Location } from '../../contract/s3-location.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { Image } from '../image.ts';
import type { Bucket } from '../s3/bucket.ts';
import { Semaphore } from '../semaphore.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { decodeFile, encodeFile, fixedBytes, maxHeadBytes } from './file.ts';
import { objectKey } from './object-key.ts';

export type SharedCacheSettings = Pick<
  Settings,
  'sharedCacheTimeoutMs' | 'sharedCacheQueueBytes'
> & { readonly sharedCacheUrl: S3Location };

/**
 * Receives the last error when the cache stops trying an operation, and null when the operation
 * works again.
 */
export type OnSharedCacheChange = (operation: 'read' | 'write', error: Error | null) => void;

export interface SharedCacheEnvironment {
  readonly onSharedCacheChange: OnSharedCacheChange;
  /** The secret shared by all machines; null until loaded, which disables the cache. */
  readonly deploymentSecret: () => Promise<string | null>;
}

const maxReads = 256;
/** Ends a read that no request waits for. */
const endAfterMs = 5_000;
/** Larger images are rare, and take longer to read than to render. */
const maxObjectBytes = 16 * 2 ** 20;
/** Maximum bytes of all objects being read. */
const maxReadBytes = 64 * 2 ** 20;

const macBytes = 32;

/** Authenticates the bytes that determine the rest of a file, including the image's key. */
const computeMac = (key: Buffer, file: Uint8Array): Buffer =>
  createHmac('sha256', key).update(file.subarray(0, fixedBytes)).digest();

/**
 * The cache shared by all machines: a bucket with objects in the disk cache's file format, each
 * preceded by a message authentication code (HMAC-SHA256), because other parties can have write
 * access to the bucket. It never fails a request. It delays each by at most its timeout, or not at
 * all while a circuit breaker is open. The digests in a file reveal damage. Purges and the bucket's
 * lifecycle rules delete objects.
 */
export class SharedCache {
  readonly #settings: SharedCacheSettings;
  readonly #deploymentSecret: SharedCacheEnvironment['deploymentSecret'];
  /** The authentication codes' key; null before the first use. */
  #macKey: Buffer | null = null;
  /** A promise, because only a shared cache loads the module. */
  readonly #bucket;
  readonly #reads: CircuitBreaker;
  readonly #writes: SharedWrites;
  readonly #writable: CircuitBreaker;
  #reading = 0;
  #readBytes = 0;
  readonly #totals = { hit: 0, miss: 0, damaged: 0, timeout: 0, error: 0, skipped: 0 };

  constructor(settings: SharedCacheSettings, environment: SharedCacheEnvironment) {
    const { onSharedCacheChange: onChange, deploymentSecret } = environment;
    const { sharedCacheUrl, sharedCacheQueueBytes } = settings;
    this.#settings = settings;
    this.#deploymentSecret = deploymentSecret;
    this.#bucket = import('../s3/bucket.ts').then(({ Bucket }) => new Bucket(sharedCacheUrl));
    // Reads and writes fail with the error, and the circuit breakers report it.
    this.#bucket.catch(() => {});
    this.#reads = new CircuitBreaker((error) => onChange('read', error));
    this.#writable = new CircuitBreaker((error) => onChange('write', error));
    this.#writes = new SharedWrites(this.#bucket, sharedCacheQueueBytes, this.#writable);
  }

  /**
   * Returns a cache key's image, or null if it is missing or damaged. Never rejects.
   *
   * @param project its id
   * @param signal aborts when no request waits for the image
   */
  async read(key: string, project: string, signal: AbortSignal): Promise<Image | null> {
    const use = signal.aborted ? null : this.#reads.take();
    if (use === null) {
      this.#totals.skipped += 1;
      return null;
    }
    const waiting = new AbortController();
    const leave = () => waiting.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const onTimeout = () => waiting.abort(new Error('no response within the timeout'));
    const timer = setTimeout(onTimeout, this.#settings.sharedCacheTimeoutMs);
    let requestSent = false;
    try {
      const macKey = this.#macKey ?? (await unlessAborted(this.#loadKey(), waiting.signal));
      // Many reads can have waited for the key.
      if (macKey === null || this.#reading >= maxReads) {
        this.#totals.skipped += 1;
        use.abandoned();
        return null;
      }
      requestSent = true;
      const object = await unlessAborted(this.#get(key, project), waiting.signal);
      use.succeeded();
      return this.#decode(key, object, macKey);
    } catch (error) {
      const isLate = waiting.signal.aborted;
      if (!signal.aborted) this.#totals[isLate ? 'timeout' : 'error'] += 1;
      if (signal.aborted || !requestSent) use.abandoned();
      else use.failed(error as Error);
      return null;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Queues a write; drops it when the queue is full. */
  write(key: string, project: string, image: Image): void {
    if (image.body.byteLength > maxObjectBytes) return;
    const [head, body] = encodeFile(key, image);
    // Known after the first read, which comes before the first write.
    const macKey = this.#macKey;
    if (macKey === null) return this.#writes.drop(head.byteLength + body.byteLength);
    this.#writes.add(objectKey(project, key), [computeMac(macKey, head), head, body]);
  }

  stats() {
    const { stored, failed, dropped, droppedBytes } = this.#writes.totals;
    return {
      /** Total reads and writes by outcome; skipped and dropped operations were not tried. */
      reads: { ...this.#totals },
      writes: { stored, failed, dropped },
      droppedBytes,
      queuedBytes: this.#writes.bytes,
      /** False while a circuit breaker is open. */
      available: { read: !this.#reads.isOpen, write: !this.#writable.isOpen },
    };
  }

  async close(): Promise<void> {
    await this.#writes.close();
    const bucket = await this.#bucket.catch(() => null);
    await bucket?.destroy();
  }

  /**
   * Continues after the last waiting request has left: opening a connection can take longer than
   * the timeout, and the connection is kept.
   */
  async #get(key: string, project: string): Promise<Buffer | null> {
    let taken = 0;
    this.#reading += 1;
    const take = (bytes: number): boolean => {
      if (
        bytes > macBytes + maxHeadBytes + maxObjectBytes ||
        this.#readBytes + bytes > maxReadBytes
      )
        return false;
      taken = bytes;
      this.#readBytes += bytes;
      return true;
    };
    try {
      const bucket = await this.#bucket;
      const signal = AbortSignal.timeout(endAfterMs);
      return await bucket.get(objectKey(project, key), take, signal);
    } finally {
      this.#reading -= 1;
      this.#readBytes -= taken;
    }
  }

  /** Derives a separate key per purpose. */
  async #loadKey(): Promise<Buffer | null> {
    const secret = await this.#deploymentSecret();
    if (secret !== null) {
      this.#macKey ??= createHmac('sha256', secret).update('objects of the shared cache').digest();
    }
    return this.#macKey;
  }

  #decode(key: string, object: Buffer | null, macKey: Buffer): Image | null {
    const file = object?.subarray(macBytes) ?? null;
    const mac = object?.subarray(0, macBytes);
    const isOwn =
      file !== null && mac?.length === macBytes && timingSafeEqual(mac, computeMac(macKey, file));
    const stored = isOwn ? decodeFile(key, file) : null;
    if (object === null) this.#totals.miss += 1;
    else this.#totals[stored === null ? 'damaged' : 'hit'] += 1;
    return stored;
  }
}

const maxConcurrentWrites = 4;
/** No request waits for a write, but its bytes stay in memory. */
const writeTimeoutMs = 10_000;
/** Shorter than the time that a front end has to close. */
const closeWithinMs = 1_500;

/**
 * Writes objects in the background, within a limit of bytes. After a lost write the image is
 * rendered again.
 */
class SharedWrites {
  readonly #bucket: Promise<Bucket>;
  readonly #maxBytes: number;
  readonly #breaker: CircuitBreaker;
  readonly #turns = new Semaphore(maxConcurrentWrites);
  /** Writes that wait or run, by object key: two writes of a key could end in either order. */
  readonly #pending = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();
  /** Bytes of the writes that wait or run. */
  bytes = 0;
  /** Total writes by outcome, and the bytes of untried writes. */
  readonly totals = { stored: 0, failed: 0, dropped: 0, droppedBytes: 0 };

  constructor(bucket: Promise<Bucket>, maxBytes: number, breaker: CircuitBreaker) {
    this.#bucket = bucket;
    this.#maxBytes = maxBytes;
    this.#breaker = breaker;
  }

  /** Ignores a key whose write waits or runs. */
  add(key: string, parts: readonly Uint8Array[]): void {
    if (this.#pending.has(key)) return;
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (this.bytes + bytes > this.#maxBytes) return this.drop(bytes);
    this.bytes += bytes;
    const write = this.#write(key, parts, bytes).finally(() => {
      this.bytes -= bytes;
      this.#pending.delete(key);
    });
    this.#pending.set(key, write);
  }

  /**
   * Finishes as many writes as a time limit allows. Destroying the bucket cancels running writes.
   */
  async close(): Promise<void> {
    const late = sleep(closeWithinMs, null, { ref: false });
    await Promise.race([Promise.all(this.#pending.values()), late]);
    this.#closed.abort();
  }

  async #write(key: string, parts: readonly Uint8Array[], bytes: number): Promise<void> {
    const leave = await this.#turns.enter(this.#closed.signal).catch(() => null);
    const use = leave && this.#breaker.take();
    try {
      if (use === null) return this.drop(bytes);
      const bucket = await this.#bucket;
      await bucket.put(key, Buffer.concat(parts), AbortSignal.timeout(writeTimeoutMs));
      this.totals.stored += 1;
      use.succeeded();
    } catch (error) {
      this.totals.failed += 1;
      use?.failed(error as Error);
    } finally {
      leave?.();
    }
  }

  /** Counts an untried write. */
  drop(bytes: number): void {
    this.totals.dropped += 1;
    this.totals.droppedBytes += bytes;
  }
}
