import sharp from 'sharp';
import { encodingOf } from '../rendering/encode/encodings.ts';
import type { Variant } from '../variant.ts';

/**
 * Threads of an AVIF encoder. An image that is encoded alone is ready sooner, for as much CPU time
 * (docs/operating/sizing.md). The encoder makes a tile for each thread, so the number determines the bytes, and is the same
 * on every machine. A change of it is a change of `rendererVersion`.
 */
export const avifThreads = 2;

/** With more threads for them, transforms to other formats take more CPU time, and no less time. */
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
    const usesThreads = formats.some((format) => encodingOf(format).usesThreads);
    if (formats.length > 0 && !usesThreads) return () => {};
    this.#avifTransforms += 1;
    sharp.concurrency(avifThreads);
    return () => {
      this.#avifTransforms -= 1;
      if (this.#avifTransforms === 0) sharp.concurrency(otherThreads);
    };
  }
}
