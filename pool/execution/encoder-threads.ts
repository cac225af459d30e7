import sharp from 'sharp';
import type { Variant } from '../variant.ts';

/**
 * Threads of an AVIF encoder. An image that is encoded alone is ready in 0.6 x the time (800 x 653 px on two
 * cores), for 1 % more CPU time. The encoder makes a tile for each thread, so the number determines the bytes (up to 1.5 %
 * more than with one thread), and is the same on every machine. A change of it is a change of
 * `rendererVersion`.
 */
export const avifThreads = 2;

/** With more threads for them, transforms to other formats take up to 8 % more CPU time, and no less time. */
const otherThreads = 1;

/**
 * Sets the number of libvips' threads, which is one for the whole process: `avifThreads` while a transform that
 * may encode AVIF runs, else one. Only one thread may use this class, because the number must not change
 * before an encoder reads it. The number does not affect the bytes of other formats.
 */
export class EncoderThreads {
  #avifTransforms = 0;

  constructor() {
    sharp.concurrency(otherThreads);
  }

  /** Call it before a transform, and the returned function after it. */
  use({ formats }: Variant): () => void {
    // Without formats the output has the format of the source.
    if (formats.length > 0 && !formats.includes('avif')) return () => {};
    this.#avifTransforms += 1;
    sharp.concurrency(avifThreads);
    return () => {
      this.#avifTransforms -= 1;
      if (this.#avifTransforms === 0) sharp.concurrency(otherThreads);
    };
  }
}
