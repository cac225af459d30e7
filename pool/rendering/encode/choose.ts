import { withoutMetadata } from '../../formats/container/container.ts';
import type { KeptMetadata } from '../../formats/metadata/kept-metadata.ts';
import type { InspectionResult, SourceFacts } from '../../formats/source-format.ts';
import { changedFields, type Variant } from '../../variant.ts';
import { ownFormat } from '../format.ts';
import type { Pipeline, Pixels } from '../pipeline.ts';
import type { Plan } from '../plan.ts';
import { applySteps, passes, type StepContext, withTiming } from '../steps.ts';
import { autoQuality, typicalQuality } from './auto-quality.ts';
import {
  type EncodeOptions,
  getEncoding,
  type LossyEncoding,
  type OutputFormat,
  outputFormatsWith,
  smallerVersion,
  usualQuality,
} from './encodings.ts';
import { indexedPng } from './indexed-png.ts';
import { writeJxl } from './jxl/write.ts';
import { classifyPixels } from './pixel-traits.ts';
import { withinBytes } from './within-bytes.ts';

/** An image in a format; `data` can be a Buffer from sharp. */
export interface Output {
  readonly data: Uint8Array;
  readonly format: OutputFormat;
}

/** Maximum pixels of drawings to encode losslessly, which takes up to 0.6 s per megapixel. */
const maxDrawnPixels = 4_000_000;

/**
 * Encodes a transformed image in the plan's format. Encodes a drawing without visible losses as
 * WebP or JPEG XL or, after negotiation, in a format that the client accepts. For WebP the pixels
 * alone decide; for other formats a lossy version is encoded too, and the bytes of both decide.
 */
export async function bestOutput(pipeline: Pipeline, context: StepContext): Promise<Output> {
  const { plan, variant } = context;
  if (plan.format === 'png') {
    const indexed = isBare(context) ? encodeIndexed(await pipeline.pixels()) : null;
    return indexed ?? encoded(pipeline, context);
  }
  // More passes would lose a gain map.
  const { lossy: scale } = getEncoding(plan.format);
  const isOnePass = scale === undefined || plan.gainMap || variant.lossless === true;
  if (isOnePass) return encoded(pipeline, context);
  const { maxBytes } = variant;
  if (plan.animated) {
    if (maxBytes !== null) await pipeline.render();
    return lossy(pipeline, context, scale, { quality: fixedQuality(variant) });
  }
  const pixels = await (plan.plainPixels ? pipeline.plainPixels(plan) : pipeline.pixels());
  const { width, height, channels } = pixels.info;
  // A spread would give each image a hidden class, and the loops over pixels would be recompiled.
  const image = { data: pixels.data, width, height, channels };
  const { sharpChroma, flat, losslessBytes } = classifyPixels(image);
  const isAuto = variant.quality === 'auto' && !flat;
  const base = isAuto ? autoQuality(image) : fixedQuality(variant);
  const isUsual = maxBytes === null && base >= usualQuality;
  const { estimate, worth } = isUsual ? scale.drawings : smallerVersion;
  const isDrawing =
    losslessBytes <= estimate &&
    variant.lossless === null &&
    plan.width * plan.height <= maxDrawnPixels;
  const drawing = isDrawing ? await encodeDrawing(pipeline, context, pixels, base) : null;
  const most = maxBytes ?? (worth === Number.POSITIVE_INFINITY ? worth : 0);
  if (drawing !== null && drawing.data.byteLength <= most) return drawing;
  const graphic = sharpChroma && flat;
  const quality = Math.min(100, base + (graphic ? scale.graphicBonus : 0));
  const output = await lossy(pipeline, context, scale, { quality, sharpChroma, flat });
  const isSmaller = drawing !== null && drawing.data.byteLength < worth * output.data.byteLength;
  return isSmaller ? drawing : output;
}

/** Returns the quality that does not depend on pixels. */
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

/** Formats for drawings, best first. */
const drawingFormats = outputFormatsWith(({ lossless }) => lossless?.suitsDrawings === true);

/**
 * Encodes a drawing without visible losses; returns null if the client accepts no format for it.
 */
async function encodeDrawing(
  pipeline: Pipeline,
  context: StepContext,
  pixels: Pixels,
  quality: number,
): Promise<Output | null> {
  const { plan, variant } = context;
  const accepted = variant.negotiated ? variant.formats : [plan.format];
  const format = drawingFormats.find((candidate) => accepted.includes(candidate));
  if (format !== undefined) {
    const options = { lossless: true, drawing: true, quality };
    return encoded(pipeline, { ...context, plan: { ...plan, format } }, options);
  }
  if (!variant.negotiated || !isBare(context)) return null;
  return encodeIndexed(pixels);
}

/** Returns whether an output contains no metadata, profile or density, which `indexedPng` does not write. */
const isBare = ({ plan, variant, metadata, copyright }: StepContext): boolean =>
  metadata === null && copyright === null && plan.profile !== 'keep' && variant.density === null;

function encodeIndexed({ data, info }: Pixels): Output | null {
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
    chroma: variant.chroma,
    progressive: variant.progressive,
    ...options,
  };
  const { encode } = getEncoding(format);
  if (encode === undefined) return { data: await writeJxl(pipeline, context, complete), format };
  const { data } = await pipeline.write((image) => {
    const kept = applySteps(image, passes.encode, context);
    return withTiming(encode(kept, complete), plan);
  });
  return { data, format };
}

/**
 * Returns the source itself as the output, if the variant does not change its pixels and the client
 * can show its format, because it can be smaller than a new encoding. Removes metadata that must
 * not be delivered.
 */
export function findOriginal(
  { file: { bytes: source, deliverable, isIncomplete }, facts }: InspectionResult,
  { plan, variant, metadata, copyright }: StepContext,
): Output | null {
  if (plan.gainMap || isIncomplete) return null;
  const format = ownFormat(variant, facts);
  if (format === null || !(format === plan.format || variant.negotiated)) return null;
  if (!isUnchanged(facts, plan, variant)) return null;
  // Browsers would show all frames of the file.
  if (facts.storedFrames > 1 && !plan.animated) return null;
  if (metadata !== null) {
    return isAsKept(source, metadata) ? { data: deliverable, format } : null;
  }
  // `withoutMetadata` would remove metadata that must stay.
  if (copyright !== null || (variant.keepProfile && facts.colour.hasProfile)) return null;
  const data = isNeeded(facts) ? null : withoutMetadata(deliverable, facts.format.container);
  return data === null ? null : { data, format };
}

function isUnchanged(facts: SourceFacts, plan: Plan, variant: Variant): boolean {
  const { extract, resize, border, flatten, animated } = plan;
  return (
    facts.orientation === 1 &&
    facts.colour.model !== 'other' &&
    // Not every client shows an incomplete source.
    !variant.lenient &&
    (facts.page === null || facts.pages === 1) &&
    (facts.frames === 1 || animated) &&
    [extract, resize, border].every((change) => change === null) &&
    !flatten &&
    changedFields(variant, 'turn', 'pixels', 'encoding').length === 0
  );
}

const isAsKept = (source: Uint8Array, { source: kept, exif, xmp }: KeptMetadata): boolean =>
  kept === source && exif !== 'dropped' && xmp === null;

/** Returns whether the colours depend on the profile, or it cannot be cut out. */
function isNeeded({ format, colour }: SourceFacts): boolean {
  return colour.hasProfile && !(colour.isSrgb && format.container?.sequential === true);
}
