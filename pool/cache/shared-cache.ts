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

/** Called with the last error when an operation is not tried any more, and with null when it works again. */
export type OnSharedCacheChange = (operation: 'read' | 'write', error: Error | null) => void;

/** How long a request may still wait for the shared cache. */
export interface SharedWait {
  remainingMs: number;
}

const maxReads = 256;
/** Of a read for which nobody may wait any more. */
const endAfterMs = 5_000;
/** Larger images are rare, and take longer to read than to render. */
const maxObjectBytes = 16 * 2 ** 20;
/** Of the objects that are being read. */
const maxReadBytes = 64 * 2 ** 20;

/**
 * The cache of all machines: a bucket with the files of disk caches as objects. It never fails a request, never
 * delays one by more than its timeout, and not at all while it is out of order. Stamps in the files protect from
 * purged images, and digests from damaged ones. Objects are deleted by purges and by the bucket's own rules.
 */
export class SharedCache {
  readonly #settings: SharedCacheSettings;
  /** Loaded when there is a shared cache. */
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
    // Reads and writes fail with the error, and the circuit breakers tell it.
    this.#bucket.catch(() => {});
    this.#reads = new CircuitBreaker({ onChange: (error) => onChange('read', error), now });
    this.#writable = new CircuitBreaker({ onChange: (error) => onChange('write', error), now });
    this.#writes = new SharedWrites(this.#bucket, queueBytes, this.#writable);
  }

  /** For the reads of one request. */
  get wait(): SharedWait {
    return { remainingMs: this.#settings.timeoutMs };
  }

  /**
   * The image of a cache key, or null without a valid one. Never rejects.
   *
   * @param signal aborts when nobody waits any more
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
    const late = () => waiting.abort(new Error('no answer in time'));
    const timer = setTimeout(late, wait.remainingMs);
    const hadAllTime = wait.remainingMs >= this.#settings.timeoutMs;
    const begunAt = performance.now();
    try {
      const file = await unlessAborted(this.#get(key, purges), waiting.signal);
      this.#reads.succeeded();
      return this.#use(key, purges, file);
    } catch (error) {
      const isLate = waiting.signal.aborted;
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

  /** Writes later, if there is room. */
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
      /** Whether operations are tried. */
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
