import type { S3Location } from '../../contract/s3-location.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { Image } from '../image.ts';
import { type ImagePurges, provenanceOf } from '../purges.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { decodeFile, encodeFile, maxHeadBytes } from './file.ts';
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

/**
 * The cache of all machines: a bucket whose objects are files in the format of the disk cache. It never fails a
 * request, delays none by more than its timeout, and none at all while a circuit breaker is open. The stamp in a
 * file shows whether its image is purged, and the digests whether it is damaged. Objects are deleted by purges and
 * by the bucket's lifecycle rules.
 */
export class SharedCache {
  readonly #settings: SharedCacheSettings;
  /** A promise, because its module is loaded only for a shared cache. */
  readonly #bucket;
  readonly #reads: CircuitBreaker;
  readonly #writes: SharedWrites;
  readonly #writable: CircuitBreaker;
  #reading = 0;
  #readBytes = 0;
  readonly #totals = { hit: 0, miss: 0, damaged: 0, timeout: 0, error: 0, skipped: 0 };

  constructor(settings: SharedCacheSettings, onChange: OnSharedCacheChange) {
    const { location, queueBytes } = settings;
    const now = () => performance.now();
    this.#settings = settings;
    this.#bucket = import('../s3/bucket.ts').then(
      ({ Bucket }) => new Bucket(location, process.env),
    );
    // Reads and writes fail with the error, and the circuit breakers report it.
    this.#bucket.catch(() => {});
    this.#reads = new CircuitBreaker({ onChange: (error) => onChange('read', error), now });
    this.#writable = new CircuitBreaker({ onChange: (error) => onChange('write', error), now });
    this.#writes = new SharedWrites(this.#bucket, queueBytes, this.#writable);
  }

  /** The wait of a new request, which its reads share. */
  get wait(): SharedWait {
    return { remainingMs: this.#settings.timeoutMs };
  }

  /**
   * The image of a cache key, or null without a valid one. Never rejects.
   *
   * @param signal aborts when no request waits for the image
   */
  async read(
    key: string,
    purges: ImagePurges,
    signal: AbortSignal,
    wait: SharedWait,
  ): Promise<Image | null> {
    const isAllowed = wait.remainingMs > 0 && !signal.aborted && this.#reading < maxReads;
    if (!isAllowed || !this.#reads.take()) {
      this.#totals.skipped += 1;
      return null;
    }
    const waiting = new AbortController();
    const leave = () => waiting.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const late = () => waiting.abort(new Error('no response within the timeout'));
    const timer = setTimeout(late, wait.remainingMs);
    const hadAllTime = wait.remainingMs >= this.#settings.timeoutMs;
    const begunAt = performance.now();
    try {
      const file = await unlessAborted(this.#get(key, purges), waiting.signal);
      this.#reads.succeeded();
      return this.#use(key, purges, file);
    } catch (error) {
      const isLate = waiting.signal.aborted;
      // Node's timers may end up to a millisecond early.
      if (isLate) wait.remainingMs = 0;
      if (!signal.aborted) this.#totals[isLate ? 'timeout' : 'error'] += 1;
      // Less than the timeout says nothing about the bucket.
      if (signal.aborted || (isLate && !hadAllTime)) this.#reads.abandoned();
      else this.#reads.failed(error as Error);
      return null;
    } finally {
      wait.remainingMs -= performance.now() - begunAt;
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Queues a write; drops it when the queue is full. */
  write(key: string, image: Image, purges: ImagePurges): void {
    if (image.body.byteLength > maxObjectBytes || !purges.isCurrent()) return;
    const { tags } = purges;
    this.#writes.add(objectKey(tags.project, key), encodeFile(key, image, provenanceOf(purges)));
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
  async #get(key: string, { tags }: ImagePurges): Promise<Buffer | null> {
    let taken = 0;
    this.#reading += 1;
    const take = (bytes: number): boolean => {
      if (bytes > maxObjectBytes + maxHeadBytes || this.#readBytes + bytes > maxReadBytes)
        return false;
      taken = bytes;
      this.#readBytes += bytes;
      return true;
    };
    try {
      const bucket = await this.#bucket;
      const signal = AbortSignal.timeout(endAfterMs);
      return await bucket.get(objectKey(tags.project, key), take, signal);
    } finally {
      this.#reading -= 1;
      this.#readBytes -= taken;
    }
  }

  #use(key: string, purges: ImagePurges, file: Buffer | null): Image | null {
    const stored = file === null ? null : decodeFile(key, file);
    if (stored === null || stored.stamp < purges.validFrom) {
      this.#totals[file !== null && stored === null ? 'damaged' : 'miss'] += 1;
      return null;
    }
    const { image, stamp } = stored;
    if (stamp < purges.renewBelow) this.write(key, image, purges);
    this.#totals.hit += 1;
    return image;
  }
}
