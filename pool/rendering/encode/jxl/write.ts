import type { Pipeline } from '../../pipeline.ts';
import { applySteps, passes, type StepContext } from '../../steps.ts';
import type { EncodeOptions } from '../encodings.ts';
import { encoderQuality } from '../quality.ts';
import { encodeJxl } from './encoder.ts';
import type { JxlInput, JxlOptions } from './thread.ts';

/** libjxl's efforts, from 1 to 9; bench/results/encoders.md compares them. */
export const efforts = { lossy: 4, lossless: 5 } as const;

/**
 * Writes a pipeline's image as JPEG XL, which sharp's libvips cannot.
 *
 * @throws ServiceError transform_timeout, source_too_large, source_corrupt
 */
export async function writeJxl(
  pipeline: Pipeline,
  context: StepContext,
  options: EncodeOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const input = await prepareInput(pipeline, context);
  return encodeJxl(input, jxlOptions(options), pipeline.timeoutSeconds);
}

/** Returns the encoder's settings for an image. */
export const jxlOptions = ({
  lossless,
  quality,
  pixels,
}: Pick<EncodeOptions, 'lossless' | 'quality' | 'pixels'>): JxlOptions =>
  lossless
    ? { quality: null, effort: efforts.lossless }
    : { quality: encoderQuality('jxl', quality, pixels), effort: efforts.lossy };

/**
 * Returns raw pixels if they are the whole image, or else a file with its profile, metadata,
 * frames, or transparency of greys.
 */
async function prepareInput(pipeline: Pipeline, context: StepContext): Promise<JxlInput> {
  const { plan, metadata, copyright } = context;
  if (plan.plainPixels && !plan.animated && metadata === null && copyright === null) {
    const { data: bytes, info } = await pipeline.plainPixels(plan);
    const { width, height, channels } = info;
    return { bytes, form: { type: 'pixels', width, height, channels } };
  }
  const { data: bytes } = await pipeline.write((image) => {
    const kept = applySteps(image, passes.encode, context);
    // libvips writes no EXIF in a TIFF, and no frames in a PNG.
    return plan.animated ? kept.tiff({ compression: 'none' }) : kept.png({ compressionLevel: 0 });
  });
  if (plan.timing !== null) return { bytes, form: { type: 'tiff', timing: plan.timing } };
  const hasExif = copyright !== null || metadata?.exif === 'kept';
  return { bytes, form: { type: 'png', hasExif } };
}
