import type { OverlayOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { entityTag } from '../image.ts';
import { findContent } from './content.ts';
import { indexedPng } from './encode/indexed-png.ts';
import { encodings } from './encode.ts';
import type { Size } from './geometry.ts';
import { inspect } from './inspect.ts';
import { Picture, type RenderLimits } from './picture.ts';
import { placeholders, type SourceDescription } from './placeholders.ts';
import { makePlan, type Plan, type SourceFacts, upright } from './plan.ts';
import { applySteps, drawingPasses, passes } from './steps.ts';
import type { OutputFormat, PlaceholderKind, Variant, Watermark } from './variant.ts';
import { markVariant, overlay } from './watermark.ts';

export interface Rendered {
  /** Alone in its ArrayBuffer, so that it can be moved to another thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  /** Of one frame, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly format: OutputFormat | PlaceholderKind;
}

/** A source that was drawn as a variant says, but for its watermark. */
interface Drawn {
  readonly picture: Picture;
  readonly facts: SourceFacts;
  readonly plan: Plan;
}

/**
 * Makes one variant of a source.
 *
 * @param watermark the bytes behind the variant's watermark; null when it has none
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid,
 *   transform_timeout
 */
export async function render(
  source: Uint8Array,
  watermark: Uint8Array | null,
  variant: Variant,
  limits: RenderLimits,
): Promise<Rendered> {
  const { picture, facts, plan } = await draw(source, variant, limits);
  if (watermark !== null && variant.watermark !== null) {
    const mark = await drawMark(watermark, variant.watermark, plan, limits);
    await picture.settle();
    const job = { plan, variant, overlay: mark };
    picture.apply((image) => applySteps(image, passes.mark, job));
  }
  const encoded = () => encode(picture, plan, variant);
  if (variant.placeholder === null) return encoded();

  const { contentType, make } = placeholders[variant.placeholder];
  await picture.settle();
  const text = await picture.read((image) =>
    make(image, {
      source: describe(facts, source),
      output: async () => {
        const { body, width, height } = await encoded();
        return { format: plan.format, width, height, bytes: body.byteLength };
      },
    }),
  );
  return rendered(text, contentType, variant.placeholder, plan);
}

async function encode(picture: Picture, plan: Plan, variant: Variant): Promise<Rendered> {
  const { contentType } = encodings[plan.format];
  if (plan.format === 'png' && variant.stripMetadata) {
    await picture.settle();
    const { data, info } = await picture.pixels();
    const indexed = indexedPng({ ...info, data });
    if (indexed !== null) return rendered(indexed, contentType, plan.format, info);
  }
  const { data, info } = await picture
    .apply((image) => applySteps(image, passes.encode, { plan, variant, overlay: null }))
    .write();
  const size = { width: info.width, height: info.pageHeight ?? info.height };
  return rendered(data, contentType, plan.format, size);
}

function rendered(
  data: Uint8Array,
  contentType: string,
  format: Rendered['format'],
  { width, height }: Size,
): Rendered {
  // A copy: what sharp or Buffer's pool allocated cannot be moved to another thread.
  const body = new Uint8Array(data);
  return { body, contentType, etag: entityTag(body), width, height, format };
}

function describe(facts: SourceFacts, source: Uint8Array): SourceDescription {
  const { kind, frames, hasAlpha } = facts;
  return { format: kind, ...upright(facts), bytes: source.byteLength, pages: frames, hasAlpha };
}

async function draw(source: Uint8Array, variant: Variant, limits: RenderLimits): Promise<Drawn> {
  const facts = await inspect(source, limits.sourceMaxPixels);
  const content = await findContent(
    facts,
    variant,
    limits.sourceMaxPixels,
    (density) => new Picture(source, facts, { animated: false, density }, limits),
  );
  const plan = makePlan(facts, content, variant, limits.sourceMaxPixels);
  const job = { plan, variant, overlay: null };
  const picture = new Picture(source, facts, plan, limits);
  if (plan.levelled) {
    await picture.apply((image) => applySteps(image, passes.level, job)).settle();
  }
  if (plan.prepared !== null) {
    picture.apply((image) => applySteps(image, passes.prepare, job));
    if (!plan.byFrame) await picture.settle();
  }
  for (const [index, steps] of drawingPasses(job).entries()) {
    if (plan.byFrame) await picture.eachFrame((frame) => applySteps(frame, steps, job));
    else {
      if (index > 0) await picture.settle();
      picture.apply((image) => applySteps(image, steps, job));
    }
  }
  if (variant.opacity !== null) {
    await picture.settle();
    picture.apply((image) => applySteps(image, passes.fade, job));
  }
  return { picture, facts, plan };
}

async function drawMark(
  source: Uint8Array,
  watermark: Watermark,
  plan: Plan,
  limits: RenderLimits,
): Promise<OverlayOptions> {
  try {
    const { picture } = await draw(source, markVariant(watermark, plan), limits);
    const { data, info } = await picture.apply((image) => image.ensureAlpha().raw()).write();
    const pixels = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const mark = { pixels, width: info.width, height: info.height };
    return await overlay(mark, watermark, plan, plan.animated);
  } catch (error) {
    throw error instanceof ServiceError ? error.ofWatermark() : error;
  }
}
