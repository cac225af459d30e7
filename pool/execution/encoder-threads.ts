import sharp from 'sharp';
import { getEncoding } from '../rendering/encode/encodings.ts';
import type { Variant } from '../variant.ts';

/**
 * Threads per AVIF encoder. An image encoded alone is ready sooner, for the same CPU time
 * (docs/operating/sizing.md). The encoder writes a tile per thread, so the number determines the
 * bytes and must be equal on every machine. Changing it requires a new `rendererVersion`.
 */
export const avifThreads = 2;

/** For other formats, more threads use more CPU time without saving any time. */
const otherThreads = 1;

/**
 * Sets the number of libvips threads, which is global to the process: `avifThreads` while a
 * transform that could encode AVIF runs, otherwise one. Only one thread can use this class, because
 * the number must not change before an encoder reads it. The number does not affect other formats'
 * bytes.
 */
export class EncoderThreads {
  #avifTransforms = 0;

  constructor() {
    sharp.concurrency(otherThreads);
  }

  /** Called before a transform. The caller calls the returned function after it. */
  use({ formats }: Variant): () => void {
    // An empty list means the source's format.
    const usesThreads = formats.some((format) => getEncoding(format).usesThreads);
    if (formats.length > 0 && !usesThreads) return () => {};
    this.#avifTransforms += 1;
    sharp.concurrency(avifThreads);
    return () => {
      this.#avifTransforms -= 1;
      if (this.#avifTransforms === 0) sharp.concurrency(otherThreads);
    };
  }
}
