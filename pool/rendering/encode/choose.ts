import type { Variant } from '../../variant.ts';
import type { Pipeline, Pixels } from '../pipeline.ts';
import { applySteps, passes, type StepContext, withTiming } from '../steps.ts';
import { autoQuality, typicalQuality } from './auto-quality.ts';
import {
  encodingOf,
  type LossyEncoding,
  type OutputFormat,
  outputFormatsWith,
} from './encodings.ts';
import { indexedPng } from './indexed-png.ts';
import { writeJxl } from './jxl/write.ts';
import { classifyPixels } from './pixel-traits.ts';
import type { EncodeOptions } from './sharp-encoders.ts';
import { withinBytes } from './within-bytes.ts';

/** An image in a format; `data` may be a Buffer of sharp. */
export interface Output {
  readonly data: Uint8Array;
  readonly format: OutputFormat;
}

/**
 * Maximum pixels of drawings that are also encoded losslessly, which takes up to 0.1 s per megapixel, and up
 * to 0.5 s with 64 scattered colours.
 */
const maxDrawnPixels = { flat: 4_000_000, other: 1_000_000 } as const;

/**
 * Encodes a transformed image in the format of the plan. A drawing is also encoded losslessly, in WebP or JPEG XL or,
 * if the format was negotiated, in one that the client accepts; the output with fewer bytes is used.
 */
export async function bestOutput(pipeline: Pipeline, context: StepContext): Promise<Output> {
  const { plan, variant } = context;
  if (plan.format === 'png') {
    const indexed = isBare(context) ? indexedOf(await pipeline.pixels()) : null;
    return indexed ?? encoded(pipeline, context);
  }
  // A gain map is lost in further passes.
  const { lossy: scale } = encodingOf(plan.format);
  const isOnePass = scale === null || plan.gainMap || variant.lossless === true;
  if (isOnePass) return encoded(pipeline, context);
  if (plan.animated) {
    if (variant.maxBytes !== null) await pipeline.render();
    return lossy(pipeline, context, scale, { quality: fixedQuality(variant) });
  }
  const pixels = await (plan.plainPixels ? pipeline.plainPixels(plan) : pipeline.pixels());
  const image = { ...pixels.info, data: pixels.data };
  const { sharpChroma, flat, drawn } = classifyPixels(image);
  const maxPixels = flat ? maxDrawnPixels.flat : maxDrawnPixels.other;
  const triesLossless = drawn && variant.lossless === null && plan.width * plan.height <= maxPixels;
  const lossless = triesLossless ? await encodeLosslessly(pipeline, context, pixels) : null;
  if (lossless !== null && lossless.data.byteLength <= (variant.maxBytes ?? 0)) return lossless;
  const isAuto = variant.quality === 'auto' && !flat;
  const base = isAuto ? autoQuality(image) : fixedQuality(variant);
  const graphic = sharpChroma && flat;
  const quality = Math.min(100, base + (graphic ? scale.graphicBonus : 0));
  const output = await lossy(pipeline, context, scale, { quality, sharpChroma, flat });
  return lossless !== null && lossless.data.byteLength < output.data.byteLength ? lossless : output;
}

/** The quality that does not depend on pixels. */
const fixedQuality = ({ quality }: Variant): number =>
  quality === 'auto' ? typicalQuality : quality;

function lossy(
  pipeline: Pipeline,
  context: StepContext,
  { typicalBytes }: LossyEncoding,
  options: Partial<EncodeOptions> & Pick<EncodeOptions, 'quality'>,
): Promise<Output> {
  const { maxBytes } = context.variant;
  if (maxBytes === null) return encoded(pipeline, context, options);
  return withinBytes(typicalBytes, options.quality, maxBytes, (quality) =>
    encoded(pipeline, context, { ...options, quality }),
  );
}

/** Formats for drawings, the best one first. */
const drawingFormats = outputFormatsWith(({ lossless }) => lossless?.suitsDrawings === true);

async function encodeLosslessly(
  pipeline: Pipeline,
  context: StepContext,
  pixels: Pixels,
): Promise<Output | null> {
  const { plan, variant } = context;
  const accepted = variant.negotiated ? variant.formats : [plan.format];
  const format = drawingFormats.find((one) => accepted.includes(one));
  if (format !== undefined) {
    return encoded(pipeline, { ...context, plan: { ...plan, format } }, { lossless: true });
  }
  if (!variant.negotiated || !isBare(context)) return null;
  return indexedOf(pixels);
}

/** True for an output without metadata or profile, which `indexedPng` does not write. */
const isBare = ({ plan, metadata, copyright }: StepContext): boolean =>
  metadata === null && copyright === null && plan.profile !== 'keep';

function indexedOf({ data, info }: Pixels): Output | null {
  const png = indexedPng({ ...info, data });
  return png && { data: png, format: 'png' };
}

async function encoded(
  pipeline: Pipeline,
  context: StepContext,
  options: Partial<EncodeOptions> = {},
): Promise<Output> {
  const { plan, variant } = context;
  const { format, animated, width, height } = plan;
  const complete: EncodeOptions = {
    quality: fixedQuality(variant),
    lossless: variant.lossless === true,
    sharpChroma: false,
    flat: false,
    animated,
    pixels: width * height,
    ...options,
  };
  const { encode } = encodingOf(format);
  if (encode === null) return { data: await writeJxl(pipeline, context, complete), format };
  const { data } = await pipeline.write((image) => {
    const kept = applySteps(image, passes.encode, context);
    return withTiming(encode(kept, complete), plan);
  });
  return { data, format };
}
