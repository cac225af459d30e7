import sharp, { type OutputInfo, type Sharp } from 'sharp';
import { EngineFailure } from '../failure.ts';
import { entityTag } from '../image.ts';
import { encodings } from './encode.ts';
import { inspect } from './inspect.ts';
import { kinds } from './kinds.ts';
import { makePlan, maxSide, type Plan, type SourceFacts } from './plan.ts';
import { applySteps } from './steps.ts';
import type { OutputFormat, Variant } from './variant.ts';

export interface RenderLimits {
  readonly sourceMaxPixels: number;
  /** Whole seconds after which libvips gives up between two parts of a picture; at least 1. */
  readonly softTimeoutSeconds: number;
}

export interface Rendered {
  /** Alone in its ArrayBuffer, so that it can be moved to another thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  /** Of one frame, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly format: OutputFormat;
}

/**
 * Makes one variant of a source.
 *
 * @throws EngineFailure source_unsupported, source_corrupt, source_too_large, transform_timeout
 */
export async function render(
  source: Uint8Array,
  variant: Variant,
  limits: RenderLimits,
): Promise<Rendered> {
  const facts = await inspect(source, limits.sourceMaxPixels);
  const plan = makePlan(facts, variant, limits.sourceMaxPixels);
  const image = applySteps(open(source, facts, plan, limits), { plan, variant });
  const { data, info } = await write(image, facts, limits);
  const body = alone(data);
  return {
    body,
    contentType: encodings[plan.format].contentType,
    etag: entityTag(body),
    width: info.width,
    height: info.pageHeight ?? info.height,
    format: plan.format,
  };
}

function open(source: Uint8Array, facts: SourceFacts, plan: Plan, limits: RenderLimits): Sharp {
  const { vector } = kinds[facts.kind];
  return sharp(source, {
    // Pixels that are missing or broken are an error; what a decoder only remarks on is not, since
    // browsers show such pictures too.
    failOn: 'error',
    unlimited: false,
    // Checked before; this is the second lock. A drawing's sides are rounded up after the plan was
    // made, by less than a pixel each.
    limitInputPixels: limits.sourceMaxPixels + (vector ? 2 * maxSide + 1 : 0),
    ...(plan.animated ? { pages: -1 } : {}),
    ...(plan.density === null ? {} : { density: plan.density }),
  }).timeout({ seconds: limits.softTimeoutSeconds });
}

async function write(
  image: Sharp,
  facts: SourceFacts,
  limits: RenderLimits,
): Promise<{ data: Uint8Array; info: OutputInfo }> {
  const startedAt = performance.now();
  try {
    return await image.toUint8Array();
  } catch (error) {
    // sharp's errors differ by their text only, so the clock tells its timeout from broken pixels.
    if (performance.now() - startedAt >= limits.softTimeoutSeconds * 1000) {
      throw new EngineFailure('transform_timeout', 'The transform took too long.', error);
    }
    throw new EngineFailure(
      'source_corrupt',
      `The source begins like a sound ${kinds[facts.kind].label} but cannot be decoded as a whole.`,
      error,
    );
  }
}

function alone(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = data;
  return buffer instanceof ArrayBuffer && buffer.byteLength === data.byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(data);
}
