import sharp, { type OutputInfo, type Sharp } from 'sharp';
import type { ServiceError } from '../../contract/errors.ts';
import { maxSide } from '../bounds.ts';
import { corrupt, transformTimeout } from '../formats/errors.ts';
import type { DecoderInput, InspectionLimits, SourceFacts } from '../formats/source-format.ts';
import type { Size } from '../geometry.ts';
import type { PixelFrame } from './pixel-effects.ts';

export interface RenderLimits extends InspectionLimits {
  /** Timeout of libvips, which checks it between tiles, in whole seconds; at least 1. */
  readonly softTimeoutSeconds: number;
  /** Time for drawing an SVG, in ms. */
  readonly svgTimeoutMs: number;
}

export interface DecodeOptions {
  /** True for all frames, stacked vertically; false for the first frame only. */
  readonly animated: boolean;
  /** See Variant. */
  readonly lenient?: boolean;
  /** Whether to keep the source's EXIF, which libvips' TIFF loses. */
  readonly keepsExif?: boolean;
  /** Whether to leave colours unchanged despite the source's profile; implied for sRGB. */
  readonly ignoresProfile?: boolean;
}

export type Pixels = { readonly data: Uint8Array; readonly info: OutputInfo };

/** A sharp pipeline that collects operations, and runs when it is rendered or written. */
export class Pipeline {
  readonly #decodingError: (error: unknown) => ServiceError;
  readonly #limits: RenderLimits;
  readonly #animated: boolean;
  readonly #keepsExif: boolean;
  /** True while the pipeline's input is the encoded source. */
  #decoding = true;
  /**
   * Returns the collected operations. After they have run, opens their result each time, without
   * `clone()`'s copy.
   */
  #open: () => Sharp;
  #isRendered = false;
  /** The pixels rendered by `eachFrame` or `plainPixels`, until another operation is added. */
  #raw: Pixels | null = null;

  constructor(
    input: DecoderInput,
    facts: SourceFacts,
    opening: DecodeOptions,
    limits: RenderLimits,
  ) {
    const { vector, label, unsupportedEncoding } = facts.format;
    const undecodable = `The source has a valid ${label} header but cannot be decoded completely.`;
    this.#decodingError = (error) =>
      unsupportedEncoding?.(input.bytes, error) ?? corrupt(undecodable, error);
    this.#limits = limits;
    this.#animated = opening.animated;
    this.#keepsExif = opening.keepsExif ?? false;
    const image = sharp(input.path ?? input.bytes, {
      ...input.options,
      // Missing or corrupt pixels are errors unless `lenient`. Decoder warnings are not, because
      // browsers show such images too.
      failOn: opening.lenient === true ? 'none' : 'error',
      // A second safeguard after `examine`. The sides of a rasterised SVG are rounded up, by less
      // than a pixel each, so they can exceed the plan.
      limitInputPixels: limits.sourceMaxPixels + (vector ? 2 * maxSide + 1 : 0),
      ...(opening.animated ? { pages: -1 } : {}),
      ignoreIcc: facts.colour.isSrgb || opening.ignoresProfile === true,
    });
    this.#open = () => image;
  }

  /** Time for one native call, in whole seconds. */
  get timeoutSeconds(): number {
    return this.#limits.softTimeoutSeconds;
  }

  apply(operations: (image: Sharp) => Sharp): this {
    const image = operations(this.#open());
    this.#open = () => image;
    this.#isRendered = false;
    this.#raw = null;
    return this;
  }

  /**
   * Runs the operations, and returns a function that opens the result. Later operations start from
   * it.
   */
  async render(): Promise<() => Sharp> {
    if (this.#isRendered) return this.#open;
    // Unlike raw pixels, a TIFF keeps frames, profile and metadata, and the transparency of images
    // that became grey.
    const { data } = await this.#toBuffer(
      this.#keepsExif && !this.#animated
        ? this.#open().png({ compressionLevel: 0 })
        : this.#open().tiff({ compression: 'none' }),
    );
    const pages = this.#animated ? -1 : 1;
    return this.#continueFrom(() => sharp(data, { limitInputPixels: false, pages }));
  }

  #continueFrom(reopen: () => Sharp): () => Sharp {
    this.#open = reopen;
    this.#isRendered = true;
    return reopen;
  }

  /** Changes an animation's pixels in place, frame by frame: RGBA. */
  async changeFrames(change: (frame: PixelFrame) => Promise<void>): Promise<void> {
    const { data, info } = this.#raw ?? (await this.#toBuffer(this.#open().ensureAlpha().raw()));
    const height = info.pageHeight ?? info.height;
    const size = height * info.width * info.channels;
    for (let at = 0; at < data.byteLength; at += size) {
      await change({ ...info, height, data: data.subarray(at, at + size) });
    }
    this.#continueFrom(() => fromRaw(data, info, height));
    this.#raw = { data, info };
  }

  /** Renders an animation frame by frame. */
  async eachFrame(operations: (frame: Sharp) => Sharp): Promise<void> {
    const { data, info } = this.#raw ?? (await this.#toBuffer(this.#open().ensureAlpha().raw()));
    const height = info.pageHeight ?? info.height;
    const frames = info.height / height;
    const size = data.byteLength / frames;
    let all = data;
    let output: OutputInfo = info;
    for (let index = 0; index < frames; index += 1) {
      const pixels = data.subarray(index * size, (index + 1) * size);
      const frame = fromRaw(pixels, { ...info, height });
      const rendered = await this.#rgba(operations(frame));
      const length = rendered.data.byteLength;
      // All output frames share a size. If they are not larger than the input frames, they
      // overwrite them, because these are by far the largest buffer.
      if (length > size && index === 0) all = new Uint8Array(length * frames);
      all.set(rendered.data, index * length);
      output = rendered.info;
    }
    const { height: pageHeight } = output;
    all = all.subarray(0, output.width * pageHeight * output.channels * frames);
    const stacked = { ...output, height: pageHeight * frames, pageHeight };
    this.#continueFrom(() => fromRaw(all, stacked, pageHeight));
    this.#raw = { data: all, info: stacked };
  }

  /** Returns the rendered pixels, raw, with 8 bits per channel regardless of the source's depth. */
  async pixels(): Promise<Pixels> {
    const reopen = await this.render();
    return this.#toBuffer(reopen().raw({ depth: 'uchar' }));
  }

  /** Returns the rendered pixels as RGBA, with 8 bits per channel. */
  async rgba(): Promise<PixelFrame> {
    const reopen = await this.render();
    const { data, info } = await this.#toBuffer(reopen().ensureAlpha().raw({ depth: 'uchar' }));
    return { ...info, data };
  }

  /**
   * Does less work than `pixels`, but is lossless only if `Plan.plainPixels`. Changing the returned
   * pixels changes the image.
   *
   * @param size the image's; sharp reports a smaller size for a border around a window
   */
  async plainPixels({ width, height }: Size): Promise<Pixels> {
    if (this.#raw !== null) return this.#raw;
    const { data, info } = await this.#toBuffer(this.#open().raw({ depth: 'uchar' }));
    const pixels = { data, info: { ...info, width, height } };
    this.#continueFrom(() => fromRaw(data, pixels.info));
    this.#raw = pixels;
    return pixels;
  }

  /**
   * Runs the pipeline with more operations, which a rendered pipeline does not keep. A Buffer from
   * sharp is not transferable to another thread, so the caller must copy it. `toUint8Array()` would
   * leak: sharp 0.35.5 never frees that memory, because src/pipeline.cc passes the pointer as
   * `hint` to `FreeCallback(hint, data)`.
   *
   * @throws ServiceError source_corrupt, transform_timeout
   */
  write(operations: (image: Sharp) => Sharp): Promise<Pixels> {
    return this.#toBuffer(operations(this.#open()));
  }

  /** Takes two steps, because a grey image's raw output lacks RGB and alpha. */
  async #rgba(image: Sharp): Promise<Pixels> {
    const { data } = await this.#toBuffer(image.tiff({ compression: 'none' }));
    return this.#toBuffer(sharp(data, { limitInputPixels: false }).ensureAlpha().raw());
  }

  async #toBuffer(image: Sharp): Promise<Pixels> {
    const seconds = this.#limits.softTimeoutSeconds;
    const startedAt = performance.now();
    try {
      const pixels = await image.timeout({ seconds }).toBuffer({ resolveWithObject: true });
      this.#decoding = false;
      return pixels;
    } catch (error) {
      // sharp's errors lack codes, so the elapsed time distinguishes a timeout from corrupt pixels.
      if (performance.now() - startedAt >= seconds * 1000) {
        throw transformTimeout(error);
      }
      throw this.#decoding ? this.#decodingError(error) : error;
    }
  }
}

function fromRaw(
  data: Uint8Array,
  { width, height, channels }: Pick<OutputInfo, 'width' | 'height' | 'channels'>,
  pageHeight = height,
): Sharp {
  // Omitted for a single frame, because libvips keeps the page height when it resizes the frame.
  const raw = { width, height, channels, ...(pageHeight < height ? { pageHeight } : {}) };
  return sharp(data, { raw, limitInputPixels: false });
}
