import type { OutputFormat, Variant } from '../../variant.ts';
import { type EncodeOptions, encodings } from '../encode.ts';
import type { Pipeline, Pixels } from '../pipeline.ts';
import { applySteps, passes, type StepContext, withTiming } from '../steps.ts';
import { autoQuality, typicalQuality } from './auto-quality.ts';
import { indexedPng } from './indexed-png.ts';
import { classifyPixels } from './pixel-traits.ts';
import { type LossyFormat, withinBytes } from './within-bytes.ts';

/** An encoded image; `data` may be a Buffer of sharp. */
export interface Output {
  readonly data: Uint8Array;
  readonly format: OutputFormat;
}

/**
 * Quality that flat images with saturated edges need in addition, to look as good as photographs with
 * the same `q`: small red text on blue has a SSIMULACRA2 of 69 in JPEG at 80, photographs of 78; with it
 * 79. AVIF has an encoder setting for them, and 81 to 85.
 */
const added = { jpeg: 10, webp: 10, avif: 0 } as const;

/**
 * Above this, a drawn image is not encoded a second time. That takes up to 0.1 s per megapixel, and up to
 * 0.5 s where 64 colours are scattered.
 */
const mostDrawnPixels = { flat: 4_000_000, other: 1_000_000 } as const;

/**
 * Encodes a transformed picture in the format of the plan. Where the pixels are those of a drawing,
 * the same without loss is used if it has fewer bytes: in WebP, or where the format was negotiated, in
 * one that the client shows.
 */
export async function bestOutput(picture: Pipeline, context: StepContext): Promise<Output> {
  const { plan, variant } = context;
  if (plan.format === 'png') return (await indexed(picture, context)) ?? encoded(picture, context);
  // A gain map is written in the one pass that reads it.
  const isOnePass = plan.format === 'gif' || plan.gainMap || variant.lossless === true;
  if (isOnePass) return encoded(picture, context);
  if (plan.animated) {
    if (variant.maxBytes !== null) await picture.settle();
    return lossy(picture, context, plan.format, { quality: fixedQuality(variant) });
  }
  const pixels = await settled(picture, plan);
  const image = { ...pixels.info, data: pixels.data };
  const { sharpChroma, flat, drawn } = classifyPixels(image);
  const most = flat ? mostDrawnPixels.flat : mostDrawnPixels.other;
  const tried = drawn && variant.lossless === null && plan.width * plan.height <= most;
  const exact = tried ? await withoutLoss(picture, context, pixels) : null;
  if (exact !== null && exact.data.byteLength <= (variant.maxBytes ?? 0)) return exact;
  const isAuto = variant.quality === 'auto' && !flat;
  const base = isAuto ? autoQuality(image) : fixedQuality(variant);
  const graphic = sharpChroma && flat;
  const quality = Math.min(100, base + (graphic ? added[plan.format] : 0));
  const output = await lossy(picture, context, plan.format, { quality, sharpChroma, graphic });
  return exact !== null && exact.data.byteLength < output.data.byteLength ? exact : output;
}

/** Where pixels do not decide. */
const fixedQuality = ({ quality }: Variant): number =>
  quality === 'auto' ? typicalQuality : quality;

function lossy(
  picture: Pipeline,
  context: StepContext,
  format: LossyFormat,
  options: Partial<EncodeOptions> & Pick<EncodeOptions, 'quality'>,
): Promise<Output> {
  const { maxBytes } = context.variant;
  if (maxBytes === null) return encoded(picture, context, options);
  return withinBytes(format, options.quality, maxBytes, (quality) =>
    encoded(picture, context, { ...options, quality }),
  );
}

async function withoutLoss(
  picture: Pipeline,
  context: StepContext,
  pixels: Pixels,
): Promise<Output | null> {
  const { plan, variant } = context;
  const shown = variant.negotiated ? variant.formats : [plan.format];
  if (shown.includes('webp')) {
    const webp = { ...context, plan: { ...plan, format: 'webp' as const } };
    return encoded(picture, webp, { lossless: true });
  }
  if (!variant.negotiated || !isBare(context)) return null;
  return indexedOf(pixels);
}

/** Indexed PNG has no place for metadata or a profile here. */
const isBare = ({ plan, metadata, copyright }: StepContext): boolean =>
  metadata === null && copyright === null && plan.profile !== 'keep';

async function indexed(picture: Pipeline, context: StepContext): Promise<Output | null> {
  if (!isBare(context)) return null;
  await picture.settle();
  return indexedOf(await picture.pixels());
}

function indexedOf({ data, info }: Pixels): Output | null {
  const made = indexedPng({ ...info, data });
  return made === null ? null : { data: made, format: 'png' };
}

async function encoded(
  picture: Pipeline,
  context: StepContext,
  options: Partial<EncodeOptions> = {},
): Promise<Output> {
  const { plan, variant } = context;
  const { format, animated, width, height } = plan;
  const { data } = await picture.attempt((image) => {
    const kept = applySteps(image, passes.encode, context);
    const encoding = encodings[format].encode(kept, {
      quality: fixedQuality(variant),
      lossless: variant.lossless === true,
      sharpChroma: false,
      graphic: false,
      animated,
      pixels: width * height,
      ...options,
    });
    return withTiming(encoding, plan);
  });
  return { data, format };
}

/** Settles the picture in the cheapest way that keeps everything, and returns its pixels. */
async function settled(picture: Pipeline, plan: StepContext['plan']): Promise<Pixels> {
  if (plan.plainPixels) return picture.rasterise(plan);
  await picture.settle();
  return picture.pixels();
}
