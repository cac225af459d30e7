import type { OverlayOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { entityTag, type Image } from '../image.ts';
import { inputOf } from './bitmap/input.ts';
import { withImageBrand } from './container/heif.ts';
import { findContent } from './content.ts';
import {
  type Cost,
  CostExceeded,
  costOf,
  decodingCost,
  isLight,
  knownCost,
  noCost,
  sum,
} from './cost.ts';
import { bestOutput } from './encode/choose.ts';
import { mostEncodes } from './encode/within-bytes.ts';
import { encodings } from './encode.ts';
import { mayHaveGainMap, requireKeptGainMap } from './gain-map.ts';
import { type Size, scaledSize } from './geometry.ts';
import { inspect } from './inspect.ts';
import { IsolationRequired, needsProcess, requireInterruptible } from './isolation.ts';
import { kinds } from './kinds.ts';
import { type Copyright, copyrightOf } from './metadata/copyright.ts';
import { type KeptMetadata, keptMetadata } from './metadata/kept.ts';
import { type Original, originalOf } from './original.ts';
import { Picture, type RenderLimits } from './picture.ts';
import { placeholders, type SourceDescription } from './placeholders.ts';
import { makePlan, type Plan, type SourceFacts, upright } from './plan.ts';
import { applySteps, imagePasses, passes, type StepContext } from './steps.ts';
import type { OutputFormat, Variant, Watermark } from './variant.ts';
import { overlayOf, watermarkVariant } from './watermark.ts';

/**
 * An image whose body has an ArrayBuffer of its own, which can be transferred to another thread.
 */
export type RenderedImage = Image & { readonly body: Uint8Array<ArrayBuffer> };

/** A transformed source, without the watermark. */
interface Transformed {
  readonly picture: Picture;
  readonly facts: SourceFacts;
  readonly plan: Plan;
  /** Null when it is stripped. */
  readonly metadata: KeptMetadata | null;
  /** Null where there is none to keep. */
  readonly copyright: Copyright | null;
}

/**
 * Renders one variant of a source.
 *
 * @param watermark the bytes of the variant's watermark; null when it has none
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid,
 *   transform_timeout, IsolationRequired
 * @throws CostExceeded when a light transform is asked for and this one is not
 */
export async function render(
  given: Uint8Array,
  givenWatermark: Uint8Array | null,
  variant: Variant,
  limits: RenderLimits,
  onlyLight = false,
): Promise<RenderedImage> {
  const source = withImageBrand(given);
  const watermark = givenWatermark === null ? null : withImageBrand(givenWatermark);
  const inspected = onlyLight ? await requireLight(source, watermark, variant, limits) : null;
  const transformed = await transform(source, variant, limits, inspected);
  const { picture, facts, plan, metadata, copyright } = transformed;
  if (watermark !== null && variant.watermark !== null) {
    const overlay = await transformWatermark(watermark, variant.watermark, plan, limits);
    await picture.settle();
    const context = { plan, variant, overlay, metadata, copyright };
    picture.apply((image) => applySteps(image, passes.watermark, context));
  }
  const original = originalOf(source, facts, plan, variant, metadata, copyright);
  const encoded = () =>
    smallest(picture, { plan, variant, metadata, copyright, overlay: null }, original);
  if (variant.placeholder === null) {
    const { format, ...image } = await encoded();
    return image;
  }

  const { contentType, make } = placeholders[variant.placeholder];
  await picture.settle();
  const text = await picture.read((image) =>
    make(image, {
      source: describe(facts, source),
      output: async () => {
        const { body, format, width, height } = await encoded();
        return { format, width, height, bytes: body.byteLength };
      },
    }),
  );
  return imageOf(text, contentType, plan);
}

/**
 * @returns what it has found out about the source; null for one that must not be opened for it
 * @throws CostExceeded
 */
async function requireLight(
  source: Uint8Array,
  watermark: Uint8Array | null,
  variant: Variant,
  { sourceMaxPixels }: RenderLimits,
): Promise<SourceFacts | null> {
  const { facts, cost } = await estimate(source, variant, sourceMaxPixels);
  const added = watermark === null ? noCost : await watermarkCost(watermark, sourceMaxPixels);
  const whole = sum(cost, added);
  if (!isLight(whole)) throw new CostExceeded(whole);
  return facts;
}

async function estimate(
  source: Uint8Array,
  variant: Variant,
  sourceMaxPixels: number,
): Promise<{ readonly facts: SourceFacts | null; readonly cost: Cost }> {
  const known = knownCost(source);
  if (known !== null) return { facts: null, cost: known };
  const facts = await inspect(source, sourceMaxPixels, variant);
  return { facts, cost: costOf(facts, variant, sourceMaxPixels) };
}

/** None where it cannot be opened: the error is thrown when it is used. */
async function watermarkCost(watermark: Uint8Array, sourceMaxPixels: number): Promise<Cost> {
  const known = knownCost(watermark);
  if (known !== null) return known;
  return inspect(watermark, sourceMaxPixels).then(decodingCost, () => noCost);
}

type Encoded = RenderedImage & { readonly format: OutputFormat };

/** The output, or the source in its place where that has fewer bytes. */
async function smallest(
  picture: Picture,
  context: StepContext,
  original: Original | null,
): Promise<Encoded> {
  const output = await encode(picture, context);
  if (original === null || original.bytes.byteLength >= output.body.byteLength) return output;
  const { bytes, format } = original;
  return { ...imageOf(bytes, encodings[format].contentType, output), format };
}

async function encode(picture: Picture, context: StepContext): Promise<Encoded> {
  const { data, format } = await bestOutput(picture, context);
  // Not the size that sharp tells, which is too small where a border follows a window.
  return { ...imageOf(data, encodings[format].contentType, context.plan), format };
}

function imageOf(data: Uint8Array, contentType: string, { width, height }: Size): RenderedImage {
  // A copy: buffers from sharp or Node's Buffer pool cannot be transferred to another thread.
  const body = new Uint8Array(data);
  return { body, contentType, etag: entityTag(body), width, height };
}

function describe(facts: SourceFacts, source: Uint8Array): SourceDescription {
  const { kind, pages, hasAlpha } = facts;
  const size = scaledSize(upright(facts), 1);
  return { format: kind, ...size, bytes: source.byteLength, pages, hasAlpha };
}

async function transform(
  bytes: Uint8Array,
  variant: Variant,
  limits: RenderLimits,
  inspected: SourceFacts | null = null,
): Promise<Transformed> {
  const isolates = needsProcess(bytes) || (variant.gainMap && mayHaveGainMap(bytes));
  if (!limits.isolated && isolates) throw new IsolationRequired();
  const { lenient } = variant;
  const facts = inspected ?? (await inspect(bytes, limits.sourceMaxPixels, variant));
  const isFile = kinds[facts.kind].decoder !== null;
  const metadata = variant.stripMetadata || !isFile ? null : await keptMetadata(bytes, facts.kind);
  const copyright = variant.copyright && isFile ? await copyrightOf(bytes, facts.kind) : null;
  const { bytes: source, raw } = inputOf(metadata?.source ?? bytes, facts.kind);
  const content = await findContent(
    facts,
    variant,
    limits.sourceMaxPixels,
    (scale) => new Picture(source, facts, { animated: false, lenient, scale, raw }, limits),
  );
  const plan = makePlan(facts, content, variant, limits.sourceMaxPixels);
  requireKeptGainMap(facts, plan, variant);
  if (!limits.isolated) {
    requireInterruptible(facts, plan, variant.maxBytes === null ? 1 : mostEncodes);
  }
  const context = { plan, variant, overlay: null, metadata, copyright };
  const keepsExif = metadata?.exif === 'kept' && !facts.colour.deep;
  const opening = { ...plan, lenient, raw, keepsExif };
  const picture = new Picture(source, facts, opening, limits);
  if (plan.depthReduced) {
    await picture.apply((image) => applySteps(image, passes.reduceDepth, context)).settle();
  }
  if (plan.prepared !== null) {
    picture.apply((image) => applySteps(image, passes.prepare, context));
    if (!plan.byFrame) await picture.settle();
  }
  for (const [index, steps] of imagePasses(context).entries()) {
    if (plan.byFrame) await picture.eachFrame((frame) => applySteps(frame, steps, context));
    else {
      if (index > 0) await picture.settle();
      picture.apply((image) => applySteps(image, steps, context));
    }
  }
  if (variant.opacity !== null) {
    await picture.settle();
    picture.apply((image) => applySteps(image, passes.opacity, context));
  }
  return { picture, facts, plan, metadata, copyright };
}

async function transformWatermark(
  source: Uint8Array,
  watermark: Watermark,
  plan: Plan,
  limits: RenderLimits,
): Promise<OverlayOptions> {
  try {
    const { picture } = await transform(source, watermarkVariant(watermark, plan), limits);
    const { data, info } = await picture.apply((image) => image.ensureAlpha().raw()).write();
    const pixels = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    plan.space?.convert(pixels);
    const rendered = { pixels, width: info.width, height: info.height };
    return await overlayOf(rendered, watermark, plan, plan.animated);
  } catch (error) {
    throw error instanceof ServiceError ? error.ofWatermark() : error;
  }
}
