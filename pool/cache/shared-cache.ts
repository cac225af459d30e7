import { createHmac, timingSafeEqual } from 'node:crypto';
import type { S3Location } from '../../contract/s3-location.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { Image } from '../image.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { decodeFile, encodeFile, fixedBytes, maxHeadBytes } from './file.ts';
import { objectKey } from './object-key.ts';
import { SharedWrites } from './shared-writes.ts';

export interface SharedCacheSettings {
  readonly location: S3Location;
  /** Maximum time that a request waits for it, in ms. */
  readonly timeoutMs: number;
  /** Maximum bytes that wait to be written. */
  readonly queueBytes: number;
}

/** Called with the last error when the cache stops trying an operation, and with null when it works again. */
export type OnSharedCacheChange = (operation: 'read' | 'write', error: Error | null) => void;

export interface SharedCacheEnvironment {
  readonly onSharedCacheChange: OnSharedCacheChange;
  /** The secret that all machines share; null while it cannot be loaded, and the cache is not used. */
  readonly deploymentSecret: () => Promise<string | null>;
}

/** Remaining time for which a request may wait for the shared cache. */
export interface SharedWait {
  remainingMs: number;
}

const maxReads = 256;
/** Of a read for which nobody may wait any more. */
const endAfterMs = 5_000;
/** Larger images are rare, and take longer to read than to render. */
const maxObjectBytes = 16 * 2 ** 20;
/** Limit of the bytes of all objects that are being read. */
const maxReadBytes = 64 * 2 ** 20;

const macBytes = 32;

/** Of the bytes that determine the rest of a file; the key of the image is one of them. */
const macOf = (key: Buffer, file: Uint8Array): Buffer =>
  createHmac('sha256', key).update(file.subarray(0, fixedBytes)).digest();

/**
 * The cache of all machines: a bucket whose objects are files in the format of the disk cache, each after a message
 * authentication code (HMAC-SHA256), because others may have write access to the bucket. It never fails a
 * request, delays none by more than its timeout, and none at all while a circuit breaker is open. The digests in a file
 * show whether it is damaged. Objects are deleted after purges and by the bucket's lifecycle rules.
 */
export class SharedCache {
  readonly #settings: SharedCacheSettings;
  readonly #deploymentSecret: SharedCacheEnvironment['deploymentSecret'];
  /** The key of the authentication codes; null before the first use. */
  #macKey: Buffer | null = null;
  /** A promise, because its module is loaded only for a shared cache. */
  readonly #bucket;
  readonly #reads: CircuitBreaker;
  readonly #writes: SharedWrites;
  readonly #writable: CircuitBreaker;
  #reading = 0;
  #readBytes = 0;
  readonly #totals = { hit: 0, miss: 0, damaged: 0, timeout: 0, error: 0, skipped: 0 };

  constructor(settings: SharedCacheSettings, environment: SharedCacheEnvironment) {
    const { onSharedCacheChange: onChange, deploymentSecret } = environment;
    const { location, queueBytes } = settings;
    this.#settings = settings;
    this.#deploymentSecret = deploymentSecret;
    this.#bucket = import('../s3/bucket.ts').then(
      ({ Bucket }) => new Bucket(location, process.env),
    );
    // Reads and writes fail with the error, and the circuit breakers report it.
    this.#bucket.catch(() => {});
    this.#reads = new CircuitBreaker((error) => onChange('read', error));
    this.#writable = new CircuitBreaker((error) => onChange('write', error));
    this.#writes = new SharedWrites(this.#bucket, queueBytes, this.#writable);
  }

  /** The wait of a new request, which its reads share. */
  get wait(): SharedWait {
    return { remainingMs: this.#settings.timeoutMs };
  }

  /**
   * The image of a cache key, or null without an intact one. Never rejects.
   *
   * @param project its id
   * @param signal aborts when no request waits for the image
   */
  async read(
    key: string,
    project: string,
    signal: AbortSignal,
    wait: SharedWait,
  ): Promise<Image | null> {
    // Timers have whole milliseconds, and may be early by a fraction of one.
    const isInTime = wait.remainingMs >= 1;
    const isAllowed = isInTime && !signal.aborted && this.#reading < maxReads;
    if (!isAllowed || !this.#reads.take()) {
      this.#totals.skipped += 1;
      return null;
    }
    const waiting = new AbortController();
    const leave = () => waiting.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const late = () => waiting.abort(new Error('no response within the timeout'));
    const timer = setTimeout(late, wait.remainingMs);
    const hadFullTimeout = wait.remainingMs >= this.#settings.timeoutMs;
    const begunAt = performance.now();
    let requestSent = false;
    try {
      const macKey = this.#macKey ?? (await unlessAborted(this.#loadKey(), waiting.signal));
      if (macKey === null) {
        this.#totals.skipped += 1;
        this.#reads.abandoned();
        return null;
      }
      requestSent = true;
      const object = await unlessAborted(this.#get(key, project), waiting.signal);
      this.#reads.succeeded();
      return this.#decode(key, object, macKey);
    } catch (error) {
      const isLate = waiting.signal.aborted;
      // Node's timers may end up to a millisecond early.
      if (isLate) wait.remainingMs = 0;
      if (!signal.aborted) this.#totals[isLate ? 'timeout' : 'error'] += 1;
      // Less than the timeout says nothing about the bucket.
      if (signal.aborted || !requestSent || (isLate && !hadFullTimeout)) this.#reads.abandoned();
      else this.#reads.failed(error as Error);
      return null;
    } finally {
      wait.remainingMs -= performance.now() - begunAt;
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
    this.#writes.add(objectKey(project, key), [macOf(macKey, head), head, body]);
  }

  stats() {
    const { stored, failed, dropped, droppedBytes } = this.#writes.totals;
    return {
      /** Total reads and writes by outcome; skipped and dropped ones were not tried. */
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

  /** Continues when nobody waits any more: a new connection may take longer than the timeout, and is kept. */
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

  /** A key of its own, so that the secret has one use for each key. */
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
      file !== null && mac?.length === macBytes && timingSafeEqual(mac, macOf(macKey, file));
    const stored = isOwn ? decodeFile(key, file) : null;
    if (object === null) this.#totals.miss += 1;
    else this.#totals[stored === null ? 'damaged' : 'hit'] += 1;
    return stored;
  }
}
