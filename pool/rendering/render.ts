import type { OverlayOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { decoderInput } from '../formats/bitmap/input.ts';
import { type Container, openContainer } from '../formats/container/container.ts';
import { withoutExcessMetadata } from '../formats/container/strip.ts';
import type { SourceFacts } from '../formats/facts.ts';
import { inspect } from '../formats/inspect.ts';
import { IsolationRequired, isIsolated } from '../formats/isolation.ts';
import { kinds } from '../formats/kinds.ts';
import { type Copyright, copyrightOf } from '../formats/metadata/copyright.ts';
import { type KeptMetadata, keptMetadata } from '../formats/metadata/kept-metadata.ts';
import { type Size, scaledSize } from '../geometry.ts';
import { entityTag, type Image } from '../image.ts';
import { type OutputFormat, plainVariant, type Variant, type Watermark } from '../variant.ts';
import {
  type Cost,
  CostExceeded,
  costOf,
  decodingCost,
  isLight,
  isolatedCost,
  noCost,
  sum,
} from './cost.ts';
import { bestOutput } from './encode/choose.ts';
import { mostEncodes } from './encode/within-bytes.ts';
import { encodings } from './encode.ts';
import { mayHaveGainMap, requireKeptGainMap } from './gain-map.ts';
import { requireInterruptible } from './interruptible.ts';
import { type Original, originalOf } from './original.ts';
import { Pipeline, type RenderLimits } from './pipeline.ts';
import { placeholders, type SourceDescription } from './placeholders.ts';
import { makePlan, type Plan, upright } from './plan.ts';
import { applySteps, imagePasses, passes, type StepContext } from './steps.ts';
import { findUsedArea } from './used-area.ts';
import { overlayOf, watermarkVariant } from './watermark.ts';

/**
 * An image whose body has an ArrayBuffer of its own, which can be transferred to another thread.
 */
export type RenderedImage = Image & { readonly body: Uint8Array<ArrayBuffer> };

/** A transformed source, without the watermark. */
interface Transformed {
  readonly pipeline: Pipeline;
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
  const source = withoutExcessMetadata(openContainer(given), variant);
  const watermark = givenWatermark === null ? null : openWatermark(givenWatermark);
  const inspected = onlyLight ? await requireLight(source, watermark, variant, limits) : null;
  const transformed = await transform(source, variant, limits, inspected);
  const { pipeline: picture, facts, plan, metadata, copyright } = transformed;
  if (watermark !== null && variant.watermark !== null) {
    const overlay = await transformWatermark(watermark, variant.watermark, plan, limits);
    await picture.settle();
    const context = { plan, variant, overlay, metadata, copyright };
    picture.apply((image) => applySteps(image, passes.watermark, context));
  }
  const original = originalOf(source.bytes, facts, plan, variant, metadata, copyright);
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
      source: describe(facts, given),
      output: async () => {
        const { body, format, width, height } = await encoded();
        return { format, width, height, bytes: body.byteLength };
      },
    }),
  );
  return imageOf(text, contentType, plan);
}

/** @throws ServiceError of the watermark */
function openWatermark(bytes: Uint8Array): Container {
  try {
    return withoutExcessMetadata(openContainer(bytes), plainVariant);
  } catch (error) {
    throw error instanceof ServiceError ? error.ofWatermark() : error;
  }
}

/**
 * @returns what it has found out about the source; null for one that must not be opened for it
 * @throws CostExceeded
 */
async function requireLight(
  source: Container,
  watermark: Container | null,
  variant: Variant,
  limits: RenderLimits,
): Promise<SourceFacts | null> {
  try {
    const facts = kinds[source.kind].vector ? null : await inspect(source, limits, variant);
    const cost = facts === null ? isolatedCost : costOf(facts, variant, limits.sourceMaxPixels);
    const added = watermark === null ? noCost : await watermarkCost(watermark, limits);
    const whole = sum(cost, added);
    if (!isLight(whole)) throw new CostExceeded(whole);
    return facts;
  } catch (error) {
    throw error instanceof IsolationRequired ? new CostExceeded(isolatedCost) : error;
  }
}

/** None where it cannot be opened: the error is thrown when it is used. */
async function watermarkCost(watermark: Container, limits: RenderLimits): Promise<Cost> {
  if (kinds[watermark.kind].vector) return isolatedCost;
  return inspect(watermark, limits).then(decodingCost, (error: unknown) => {
    if (error instanceof IsolationRequired) throw error;
    return noCost;
  });
}

type Encoded = RenderedImage & { readonly format: OutputFormat };

/** The output, or the source in its place where that has fewer bytes. */
async function smallest(
  picture: Pipeline,
  context: StepContext,
  original: Original | null,
): Promise<Encoded> {
  const output = await encode(picture, context);
  if (original === null || original.bytes.byteLength >= output.body.byteLength) return output;
  const { bytes, format } = original;
  return { ...imageOf(bytes, encodings[format].contentType, output), format };
}

async function encode(picture: Pipeline, context: StepContext): Promise<Encoded> {
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
  container: Container,
  variant: Variant,
  limits: RenderLimits,
  inspected: SourceFacts | null = null,
): Promise<Transformed> {
  const { bytes } = container;
  const isolates = isIsolated(container.kind) || (variant.gainMap && mayHaveGainMap(bytes));
  if (!limits.isolated && isolates) throw new IsolationRequired();
  const { lenient } = variant;
  const facts = inspected ?? (await inspect(container, limits, variant));
  const isFile = kinds[facts.kind].decoder !== null;
  const metadata = variant.stripMetadata || !isFile ? null : await keptMetadata(container);
  const copyright = variant.copyright && isFile ? await copyrightOf(bytes, facts.kind) : null;
  const { bytes: source, raw } = decoderInput(metadata?.source ?? bytes, facts.kind);
  const content = await findUsedArea(
    facts,
    variant,
    limits.sourceMaxPixels,
    (scale) => new Pipeline(source, facts, { animated: false, lenient, scale, raw }, limits),
  );
  const plan = makePlan(facts, content, variant, limits.sourceMaxPixels);
  requireKeptGainMap(facts, plan, variant);
  if (!limits.isolated) {
    requireInterruptible(facts, plan, variant.maxBytes === null ? 1 : mostEncodes);
  }
  const context = { plan, variant, overlay: null, metadata, copyright };
  const keepsExif = metadata?.exif === 'kept' && !facts.colour.deep;
  const opening = { ...plan, lenient, raw, keepsExif };
  const picture = new Pipeline(source, facts, opening, limits);
  if (facts.extraSamples) {
    await picture.apply((image) => applySteps(image, passes.dropSamples, context)).settle();
  }
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
  return { pipeline: picture, facts, plan, metadata, copyright };
}

async function transformWatermark(
  source: Container,
  watermark: Watermark,
  plan: Plan,
  limits: RenderLimits,
): Promise<OverlayOptions> {
  try {
    const { pipeline: picture } = await transform(
      source,
      watermarkVariant(watermark, plan),
      limits,
    );
    const { data, info } = await picture.apply((image) => image.ensureAlpha().raw()).write();
    const pixels = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    plan.space?.convert(pixels);
    const rendered = { pixels, width: info.width, height: info.height };
    return await overlayOf(rendered, watermark, plan, plan.animated);
  } catch (error) {
    throw error instanceof ServiceError ? error.ofWatermark() : error;
  }
}
