import { computeDecodingCost } from '../formats/decoding-cost.ts';
import { isExaminedInProcess } from '../formats/isolation.ts';
import type { Container, InspectionLimits, SourceFacts } from '../formats/source-format.ts';
import type { Size } from '../geometry.ts';
import { hasText, plainVariant, type Variant } from '../variant.ts';
import { fullChromaFrom, getEncoding, type OutputFormat } from './encode/encodings.ts';
import { isSvgOutput } from './encode/svg/output.ts';
import { maxEncodes } from './encode/within-bytes.ts';
import { layerVariant } from './layer.ts';
import { type InspectedSource, inspect } from './open-image.ts';
import { requestedOperations } from './operations.ts';
import type { Plan } from './plan.ts';

/** Where a transform runs, and whether it waits for a heavy transform's turn. */
export interface ExecutionPlan {
  /** Whether it runs in a killable process. */
  readonly isolated: boolean;
  /** Null for a light transform, which does not wait. */
  readonly cost: Cost | null;
}

/** The execution plan of a source or a layer alone. */
interface InputPlan extends ExecutionPlan {
  readonly cost: Cost;
  /** Null if a thread must not inspect the input, or cannot. */
  readonly inspected: InspectedSource | null;
}

/** The source and the layers' images; null for texts. */
export interface OpenedInputs {
  readonly source: Container;
  readonly layers: readonly (Container | null)[];
}

interface PlannedExecution {
  readonly plan: ExecutionPlan;
  /** What was read of the source and each layer, so that rendering does not read it again. */
  readonly inspected: readonly (InspectedSource | null)[];
}

/**
 * Decides from the headers of a source and its layers where a transform runs, before decoding
 * anything.
 *
 * @throws ServiceError of the source, like `inspect`; a layer's error is thrown when the layer is
 *   drawn
 */
export async function planExecution(
  { source, layers }: OpenedInputs,
  variant: Variant,
  limits: InspectionLimits,
): Promise<PlannedExecution> {
  // Threads lack fonts, and the time for drawing letters and for sanitising is unpredictable.
  if (hasText(variant) || isSvgOutput(source, variant)) {
    return { plan: { isolated: true, cost: isolatedCost }, inspected: [] };
  }
  const plans: InputPlan[] = [
    isExaminedInProcess(source)
      ? planUnopened(source, limits)
      : planSource(source, await inspect(source, variant, limits), variant),
  ];
  for (const layer of layers) plans.push(await planLayer(layer, limits));
  const cost = plans.map(({ cost }) => cost).reduce(addCosts);
  // A thread cannot limit its memory, and the kernel would kill its front end.
  const isolated = cost.bytes > limits.processMemoryBytes || plans.some(({ isolated }) => isolated);
  return {
    plan: { isolated, cost: isLight(cost) ? null : cost },
    inspected: plans.map((input) => input.inspected),
  };
}

const planUnopened = (input: Container, limits: InspectionLimits): InputPlan => ({
  isolated: true,
  cost: unopenedCost(input, limits),
  inspected: null,
});

function planSource(
  { format, bytes }: Container,
  inspected: Required<InspectedSource>,
  variant: Variant,
): InputPlan {
  const { facts, plan } = inspected;
  if (facts.exceedsThread) return { isolated: true, cost: isolatedCost, inspected };
  const isolated =
    format.runsIn === 'process' ||
    (variant.gainMap && format.mayHaveGainMap?.(bytes) === true) ||
    !isDrawnOnThread(facts, plan, variant);
  return { isolated, cost: computeCost(facts, plan, variant), inspected };
}

async function planLayer(layer: Container | null, limits: InspectionLimits): Promise<InputPlan> {
  const isolated = layer?.format.runsIn === 'process';
  const unknown = { isolated, cost: { ms: 0, bytes: 0 }, inspected: null };
  if (layer === null) return unknown;
  try {
    if (isExaminedInProcess(layer)) return planUnopened(layer, limits);
    // The variants of layers have the same options for examining.
    const inspected = await layer.format.examine(layer, limits, plainVariant);
    const { facts } = inspected;
    if (facts.exceedsThread) return { isolated: true, cost: isolatedCost, inspected };
    return {
      isolated: isolated || !isDecodedOnThread(facts),
      cost: decodingCost(facts),
      inspected,
    };
  } catch {
    return unknown;
  }
}

/** A transform's estimated resources, derived from its plan. */
export interface Cost {
  /** CPU time in ms, on the machine of the measurements below. */
  readonly ms: number;
  /** Memory for pixels and encoder. */
  readonly bytes: number;
  /**
   * Whether the memory is unpredictable. A process then starts with the limit `bytes`; a transform
   * that needs more restarts with a whole process's memory.
   */
  readonly isMemoryCapped?: boolean;
}

/**
 * Maximum cost of a light transform. Most transforms are light: up to 800 px in any format, and up
 * to 2,000 px in JPEG and WebP.
 */
const lightCost: Cost = { ms: 500, bytes: 128e6 };

export const isLight = ({ ms, bytes }: Cost): boolean =>
  ms <= lightCost.ms && bytes <= lightCost.bytes;

/** ms per frame processed in a separate pipeline. */
const separateFrame = 10;

/** Scaling, copying and intermediate images: ms per million output pixels, bytes per output pixel. */
const processing: Cost = { ms: 10, bytes: 11 };

/**
 * For SVGs, texts, and sources that a thread must not open, because their cost is unpredictable. A
 * process takes 67 MiB before it works, 110 to 160 MiB with ordinary drawings (2,000 × 2,000
 * pixels), and its whole limit with hostile drawings.
 */
export const isolatedCost: Cost = { ms: 5_000, bytes: 2 ** 28, isMemoryCapped: true };

const free: Cost = { ms: 0, bytes: 0 };

function addCosts(a: Cost, b: Cost): Cost {
  const isMemoryCapped = a.isMemoryCapped === true || b.isMemoryCapped === true;
  return { ms: a.ms + b.ms, bytes: a.bytes + b.bytes, isMemoryCapped };
}

/**
 * Returns the cost of a source that a thread does not examine.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
function unopenedCost(container: Container, limits: InspectionLimits): Cost {
  const { format } = container;
  const weight = format.weigh?.(container, limits) ?? null;
  if (weight === null) return isolatedCost;
  return addCosts(isolatedCost, computeDecodingCost(format.cost, weight));
}

/** Returns the cost of opening a source, which is all that a watermark takes. */
function decodingCost({ format, width, height, frames, colour, hasAlpha }: SourceFacts): Cost {
  const { is16Bit } = colour;
  return computeDecodingCost(format.cost, { width, height: height * frames, is16Bit, hasAlpha });
}

/** @param plan of the area before `trim` */
export function computeCost(facts: SourceFacts, plan: Plan, variant: Variant): Cost {
  const frames = plan.animated ? facts.frames : 1;
  // A frame depends on those before it.
  const decoded = facts.format.animates ? Math.max(frames, (facts.page ?? 0) + 1) : frames;
  const pixels = plan.width * plan.height * frames;
  const trimmed = variant.trim === null ? 0 : Math.min(8e6, facts.width * facts.height);
  return [
    decodingCost({ ...facts, frames: decoded }),
    times({ ms: 450, bytes: 4 }, trimmed),
    times({ ms: filtering(variant), bytes: 0 }, pixels),
    times(processing, pixels),
    layersCost(plan, frames, variant),
    { ms: plan.byFrame ? separateFrame * frames : 0, bytes: 0 },
    encodes(times(encodingCost(plan.format, variant), pixels), variant),
    encodes(
      { ms: frames > 1 ? frames * (getEncoding(plan.format).cost.frameMs ?? 0) : 0, bytes: 0 },
      variant,
    ),
  ].reduce(addCosts);
}

/** Scaling a layer with its transparency: ms per million pixels, bytes per pixel. */
const layerScaling: Cost = { ms: 290, bytes: 0 };

/** Returns the layers' cost: each layer is blended with the whole output. */
function layersCost(plan: Plan, frames: number, { layers }: Variant): Cost {
  const frame = plan.width * plan.height;
  return (layers ?? [])
    .map((layer) => {
      const area = frame * ((layerVariant(layer, plan).width ?? 0) / plan.width) ** 2;
      return addCosts(times(processing, frame * frames), times(layerScaling, area));
    })
    .reduce(addCosts, free);
}

function encodingCost(format: OutputFormat, variant: Variant): Cost {
  const { cost, lossy, lossless, progressive } = getEncoding(format);
  if (variant.lossless === true && lossless !== undefined) return lossless.cost;
  const isFine =
    variant.chroma === null
      ? variant.quality !== 'auto' && variant.quality >= fullChromaFrom
      : variant.chroma === '444';
  const { ms, bytes } = (isFine ? lossy?.fullChroma : undefined) ?? cost;
  return addCosts({ ms, bytes }, (variant.progressive && progressive) || free);
}

/** Multiplies only the time, because encoder runs are sequential. */
function encodes({ ms, bytes }: Cost, { maxBytes, lossless }: Variant): Cost {
  return { ms: maxBytes === null || lossless === true ? ms : maxEncodes * ms, bytes };
}

/** ms for scaling up a million pixels, measured on a photograph. */
const enlarging = 40;

/** Returns ms per million output pixels. */
const filtering = (variant: Variant): number =>
  requestedOperations(variant)
    .map(({ operation, value }) => operation.ms?.(value) ?? 0)
    .reduce((sum, ms) => sum + ms, variant.enlarge === true ? enlarging : 0);

function times({ ms, bytes }: Cost, pixels: number): Cost {
  return { ms: (ms * pixels) / 1e6, bytes: bytes * pixels };
}

/**
 * Maximum on a thread, in ms: how long a transform can occupy it after its timeout. Decoders and
 * encoders with `uninterruptibleMs` can run more than a second past the timeout: the maximum over
 * photographs and noise at all qualities, on a core that resizes 88 six-megapixel photographs to
 * 800 px per second.
 */
const maxUninterruptibleMs = 2000;

/** Returns whether a thread can decode a source without being occupied for too long. */
const isDecodedOnThread = ({ format, ...size }: SourceFacts): boolean =>
  megapixels(size) * (format.cost.uninterruptibleMs ?? 0) <= maxUninterruptibleMs;

/**
 * Returns whether a thread can decode a source and encode the output.
 * @param plan for the area before `trim`
 */
function isDrawnOnThread(facts: SourceFacts, plan: Plan, variant: Variant): boolean {
  const { cost } = getEncoding(plan.format);
  const encodeMs = cost.uninterruptibleMs ?? 0;
  // A trimmed output's size is unknown before decoding.
  if (variant.trim !== null && encodeMs > 0) return false;
  const frames = plan.animated ? facts.frames : 1;
  const runs = frames * (variant.maxBytes === null ? 1 : maxEncodes);
  const decodeMs = megapixels(facts) * (facts.format.cost.uninterruptibleMs ?? 0);
  const frameMs = megapixels(plan) * encodeMs + (frames > 1 ? (cost.frameMs ?? 0) : 0);
  return decodeMs + runs * frameMs <= maxUninterruptibleMs;
}

const megapixels = ({ width, height }: Size): number => (width * height) / 1e6;
