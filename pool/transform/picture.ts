import sharp, { type OutputInfo, type Sharp } from 'sharp';
import { EngineFailure } from '../failure.ts';
import { kinds } from './kinds.ts';
import { maxSide, type SourceFacts } from './plan.ts';

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
      // Checked before; this is the second lock. A drawing's sides are rounded up after the plan was
      // made, by less than a pixel each.
      limitInputPixels: limits.sourceMaxPixels + (vector ? 2 * maxSide + 1 : 0),
      ...(opening.animated ? { pages: -1 } : {}),
      ...(opening.density === null ? {} : { density: opening.density }),
    });
  }

  apply(operations: (image: Sharp) => Sharp): this {
    this.#image = operations(this.#image);
    return this;
  }

  /** Runs the pipeline; what comes next begins with its pixels. */
  async settle(): Promise<void> {
    if (this.#animated) {
      const { data, info } = await this.#pixels();
      this.#image = fromRaw(data, info, info.pageHeight ?? info.height);
      return;
    }
    // Unlike raw pixels a TIFF keeps the profile, the metadata and the depth.
    const { data } = await this.#run(this.#image.tiff({ compression: 'none' }));
    this.#image = sharp(data, { limitInputPixels: false });
  }

  /** Settles a picture frame by frame. */
  async eachFrame(operations: (frame: Sharp) => Sharp): Promise<void> {
    const { data, info } = await this.#pixels();
    const height = info.pageHeight ?? info.height;
    const size = data.byteLength / (info.height / height);
    const done: Pixels[] = [];
    for (let start = 0; start < data.byteLength; start += size) {
      const frame = fromRaw(data.subarray(start, start + size), { ...info, height }, height);
      done.push(await this.#run(operations(frame).ensureAlpha().raw()));
    }
    const [first] = done;
    if (first === undefined) return;
    const all = Buffer.concat(done.map((frame) => frame.data));
    const stack = { ...first.info, height: first.info.height * done.length };
    this.#image = fromRaw(all, stack, first.info.height);
  }

  /** For what is made of a settled picture's pixels beside its encoded bytes. */
  read<T>(reading: (image: Sharp) => Promise<T>): Promise<T> {
    return reading(this.#image);
  }

  /** @throws EngineFailure source_corrupt, transform_timeout */
  async write(): Promise<Pixels> {
    return this.#run(this.#image);
  }

  #pixels(): Promise<Pixels> {
    return this.#run(this.#image.raw());
  }

  async #run(image: Sharp): Promise<Pixels> {
    const { softTimeoutSeconds } = this.#limits;
    const startedAt = performance.now();
    try {
      const pixels = await image.timeout({ seconds: softTimeoutSeconds }).toUint8Array();
      this.#decoding = false;
      return pixels;
    } catch (error) {
      // sharp's errors differ by their text only, so the clock tells its timeout from broken pixels.
      if (performance.now() - startedAt >= softTimeoutSeconds * 1000) {
        throw new EngineFailure('transform_timeout', 'The transform took too long.', error);
      }
      if (!this.#decoding) throw error;
      throw new EngineFailure(
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
  pageHeight: number,
): Sharp {
  const raw = { width, height, channels, pageHeight };
  return sharp(data, { raw, limitInputPixels: false });
}
