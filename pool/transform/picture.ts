import sharp, { type OutputInfo, type Sharp, type TimeoutOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { maxSide } from './bounds.ts';
import { kinds } from './kinds.ts';
import type { SourceFacts } from './plan.ts';

export interface RenderLimits {
  readonly sourceMaxPixels: number;
  /** Whole seconds after which libvips gives up between two parts of a picture; at least 1. */
  readonly softTimeoutSeconds: number;
}

export interface Opening {
  /** All frames, below each other, or the first alone. */
  readonly animated: boolean;
  /** Dots per inch of a vector source; null for other kinds. */
  readonly density: number | null;
}

type Pixels = { readonly data: Uint8Array; readonly info: OutputInfo };

/**
 * A picture that is being made: operations are added to a pipeline of sharp's, which runs when the
 * picture is settled or written.
 */
export class Picture {
  readonly #label: string;
  readonly #limits: RenderLimits;
  readonly #animated: boolean;
  /** True while the source itself is what the pipeline reads. */
  #decoding = true;
  #image: Sharp;
  /** False when the pipeline has operations that did not run yet. */
  #settled = false;
  /** The frames that `eachFrame` made, for as long as nothing else was done to them. */
  #frames: Pixels | null = null;

  constructor(source: Uint8Array, facts: SourceFacts, opening: Opening, limits: RenderLimits) {
    const { vector, label } = kinds[facts.kind];
    this.#label = label;
    this.#limits = limits;
    this.#animated = opening.animated;
    this.#image = sharp(source, {
      // Pixels that are missing or broken are an error; what a decoder only remarks on is not, since
      // browsers show such pictures too.
      failOn: 'error',
      unlimited: false,
      // Checked before; this is the second lock. An SVG's sides are rounded up after the plan was
      // made, by less than a pixel each.
      limitInputPixels: limits.sourceMaxPixels + (vector ? 2 * maxSide + 1 : 0),
      ...(opening.animated ? { pages: -1 } : {}),
      ...(opening.density === null ? {} : { density: opening.density }),
    });
  }

  apply(operations: (image: Sharp) => Sharp): this {
    this.#image = operations(this.#image);
    this.#settled = false;
    this.#frames = null;
    return this;
  }

  /** Runs the pipeline; what comes next begins with its pixels. */
  async settle(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    // Unlike raw pixels a TIFF keeps frames apart, the profile, the metadata, and the transparency of
    // what was made grey.
    const { data } = await this.#toBuffer(this.#image.tiff({ compression: 'none' }));
    this.#image = sharp(data, { limitInputPixels: false, pages: this.#animated ? -1 : 1 });
  }

  /** Settles an animation frame by frame. */
  async eachFrame(operations: (frame: Sharp) => Sharp): Promise<void> {
    const { data, info } = this.#frames ?? (await this.#toBuffer(this.#image.ensureAlpha().raw()));
    const height = info.pageHeight ?? info.height;
    const frames = info.height / height;
    const size = data.byteLength / frames;
    let all = data;
    let made: OutputInfo = info;
    for (let index = 0; index < frames; index += 1) {
      const pixels = data.subarray(index * size, (index + 1) * size);
      const frame = fromRaw(pixels, { ...info, height });
      const done = await this.#rgba(operations(frame));
      const length = done.data.byteLength;
      // All frames become of one size. Where that is no larger, they take the place of those that
      // were read before: all frames together are the largest thing there is.
      if (length > size && index === 0) all = new Uint8Array(length * frames);
      all.set(done.data, index * length);
      made = done.info;
    }
    const { height: pageHeight } = made;
    all = all.subarray(0, made.width * pageHeight * made.channels * frames);
    this.#frames = { data: all, info: { ...made, height: pageHeight * frames, pageHeight } };
    this.#image = fromRaw(all, this.#frames.info, pageHeight);
    this.#settled = true;
  }

  /** For what is made of a settled picture's pixels beside its encoded bytes. */
  read<T>(reading: (image: Sharp) => Promise<T>): Promise<T> {
    return reading(this.#image);
  }

  /** 8 bits a channel, whatever the depth of the source was. */
  pixels(): Promise<Pixels> {
    return this.#toBuffer(this.#image.clone().raw({ depth: 'uchar' }));
  }

  /**
   * Not by `toUint8Array()`: sharp 0.35.5 never frees what that has written, as src/pipeline.cc hands
   * it to `FreeCallback(hint, data)` as the hint. A Buffer of sharp's cannot be moved to another
   * thread, so it has to be copied for that.
   *
   * @throws ServiceError source_corrupt, transform_timeout
   */
  write(): Promise<Pixels> {
    return this.#toBuffer(this.#image);
  }

  /** In two steps, since raw pixels of what was made grey are grey, without transparency. */
  async #rgba(image: Sharp): Promise<Pixels> {
    const { data } = await this.#toBuffer(image.tiff({ compression: 'none' }));
    return this.#toBuffer(sharp(data, { limitInputPixels: false }).ensureAlpha().raw());
  }

  #toBuffer(image: Sharp): Promise<Pixels> {
    return this.#run((options) => image.timeout(options).toBuffer({ resolveWithObject: true }));
  }

  async #run(execute: (options: TimeoutOptions) => Promise<Pixels>): Promise<Pixels> {
    const { softTimeoutSeconds } = this.#limits;
    const startedAt = performance.now();
    try {
      const pixels = await execute({ seconds: softTimeoutSeconds });
      this.#decoding = false;
      return pixels;
    } catch (error) {
      // sharp's errors differ by their text only, so the clock tells its timeout from broken pixels.
      if (performance.now() - startedAt >= softTimeoutSeconds * 1000) {
        throw new ServiceError('transform_timeout', 'The transform took too long.', error);
      }
      if (!this.#decoding) throw error;
      throw new ServiceError(
        'source_corrupt',
        `The source begins like a sound ${this.#label} but cannot be decoded as a whole.`,
        error,
      );
    }
  }
}

function fromRaw(
  data: Uint8Array,
  { width, height, channels }: Pick<OutputInfo, 'width' | 'height' | 'channels'>,
  pageHeight = height,
): Sharp {
  // A single frame must not know the height of its page, which outlives a change of its size.
  const raw = { width, height, channels, ...(pageHeight < height ? { pageHeight } : {}) };
  return sharp(data, { raw, limitInputPixels: false });
}
