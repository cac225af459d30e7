import type { OverlayOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { asBuffer } from '../formats/bytes.ts';
import { withoutExcessMetadata } from '../formats/container/container.ts';
import { MemoryFiles } from '../formats/memory-files.ts';
import { readCopyright } from '../formats/metadata/copyright.ts';
import { keptMetadata } from '../formats/metadata/kept-metadata.ts';
import type { Container, SourceFacts } from '../formats/source-format.ts';
import { openContainer } from '../formats/source-formats.ts';
import type { Size } from '../geometry.ts';
import { type ContentType, entityTag, type Image, type ImageWarning } from '../image.ts';
import { errorOfLayer } from '../inputs.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { type Layer, plainVariant, type Variant } from '../variant.ts';
import { isolatedCost } from './cost.ts';
import { bestOutput, findOriginal, type Output } from './encode/choose.ts';
import { encodings, type OutputFormat } from './encode/encodings.ts';
import { isSvgOutput, svgOutput } from './encode/svg/output.ts';
import { requireKeptGainMap } from './gain-map.ts';
import { createOverlay, layerVariant } from './layer.ts';
import { Pipeline, type RenderLimits } from './pipeline.ts';
import { placeholders } from './placeholders.ts';
import { type OpenedInputs, type Placement, type Prepared, place, prepare } from './placement.ts';
import { makePlan, type Plan } from './plan.ts';
import { applySteps, imagePasses, passes, type Step, type StepContext } from './steps.ts';
import { addFont, hasMissingGlyphs, loadAddedFonts } from './text/font-folder.ts';
import { textImage } from './text/render-text.ts';
import { findUsedArea } from './used-area.ts';

/** An image with its body in a separate ArrayBuffer, which can be transferred to another thread. */
export type RenderedImage = Omit<Image, 'fetchedAt'> & { readonly body: Uint8Array<ArrayBuffer> };

/** A transform's limits and resources. */
interface Scope extends RenderLimits {
  readonly files: MemoryFiles;
}

type EncodedImage = RenderedImage & { readonly format: OutputFormat };

export interface RenderTask {
  readonly source: Uint8Array;
  /** Bytes of the layers' images and fonts; null for texts without their own font. */
  readonly layers: readonly (Uint8Array | null)[];
  readonly variant: Variant;
  readonly limits: RenderLimits;
}

/**
 * Renders a variant of a source on this thread or in this process, as placed.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid,
 *   transform_timeout
 */
export async function render(task: RenderTask): Promise<RenderedImage> {
  const inputs = await openInputs(task);
  return (await svgImage(inputs, task)) ?? draw(task, inputs, null);
}

/**
 * Renders a light variant on a thread; for other variants, returns their placement.
 *
 * @throws ServiceError as `render`
 */
export async function renderIfLight(task: RenderTask): Promise<RenderedImage | Placement> {
  const { variant, limits } = task;
  const inputs = await openInputs(task);
  if (isSvgOutput(inputs.source, variant)) return { isolated: true, cost: isolatedCost };
  const { placement, prepared } = await place(inputs, variant, limits);
  if (placement.isolated || placement.cost !== null) return placement;
  return draw(task, inputs, prepared);
}

/** Returns the source as SVG; null for an output with pixels. */
async function svgImage(
  { source }: OpenedInputs,
  { variant, limits }: RenderTask,
): Promise<RenderedImage | null> {
  if (!isSvgOutput(source, variant)) return null;
  const written = svgOutput(source, variant, limits.sourceMaxPixels);
  const output = await withinDrawingTime(written, source, limits);
  return output && createImage(output.body, encodings.svg.contentType, output);
}

/** Reads the containers of the source and the layers. */
async function openInputs({ source, layers, variant }: RenderTask): Promise<OpenedInputs> {
  const opened = withoutExcessMetadata(openContainer(source), variant);
  const images = await Promise.all(
    layers.map((bytes, index) =>
      bytes === null || variant.layers?.[index]?.kind === 'text'
        ? null
        : withLayerErrors(variant, index, () =>
            withoutExcessMetadata(openContainer(bytes), plainVariant),
          ),
    ),
  );
  return { source: opened, layers: images };
}

/** Draws an animation as a still image if only its first frame can be decoded. */
async function draw(
  task: RenderTask,
  inputs: OpenedInputs,
  prepared: Prepared | null,
): Promise<RenderedImage> {
  const { variant } = task;
  try {
    return await drawAll(task, inputs, prepared);
  } catch (error) {
    const isCorrupt = error instanceof ServiceError && error.code === 'source_corrupt';
    if (!isCorrupt || !variant.animated || inputs.source.frames < 2) throw error;
    const still = { ...task, variant: { ...variant, animated: false } };
    const image = await drawAll(still, inputs, null);
    const { warnings = [] } = image;
    return variant.placeholder === null
      ? { ...image, warnings: ['animation_dropped', ...warnings] }
      : image;
  }
}

async function drawAll(
  task: RenderTask,
  inputs: OpenedInputs,
  prepared: Prepared | null,
): Promise<RenderedImage> {
  const files = new MemoryFiles();
  try {
    return await drawFrom(task, { ...task.limits, files }, inputs, prepared);
  } finally {
    files.close();
  }
}

async function drawFrom(
  { source: sourceBytes, layers: layerBytes, variant }: RenderTask,
  scope: Scope,
  { source, layers: images }: OpenedInputs,
  prepared: Prepared | null,
): Promise<RenderedImage> {
  const layers = variant.layers ?? [];
  const families = await addFonts(variant, layerBytes);
  const { pipeline, examined, context } = await transform(source, variant, scope, prepared);
  const { plan } = context;
  if (layers.length > 0) {
    const overlays: OverlayOptions[] = [];
    // The fonts of texts must not be in SVGs.
    for (const kind of ['image', 'text'] as const) {
      if (kind === 'text' && families.size > 0) await loadAddedFonts();
      for (const [index, layer] of layers.entries()) {
        if (layer.kind !== kind) continue;
        const font = families.get(index);
        const drawn = layer.kind === 'text' && font !== undefined ? { ...layer, font } : layer;
        const overlay = () => overlayFrom(images[index] ?? null, drawn, plan, scope);
        overlays[index] = await withLayerErrors(variant, index, overlay);
      }
    }
    await pipeline.render();
    pipeline.apply((image) => applySteps(image, passes.layers, { ...context, overlays }));
  }
  const original = findOriginal(examined, context);
  if (variant.placeholder === null) {
    const { format, ...image } = await smallestOutput(pipeline, context, original);
    const isIncomplete = [source, ...images].some((input) => input?.isIncomplete === true);
    const warnings = [
      ...(isIncomplete ? ['source_incomplete' as const] : []),
      ...findWarnings(image, variant, examined.facts, plan),
    ];
    return warnings.length === 0 ? image : { ...image, warnings };
  }

  const { contentType, make } = placeholders[variant.placeholder];
  const open = await pipeline.render();
  const text = await make(open(), {
    source: examined.facts,
    bytes: sourceBytes.byteLength,
    output: () => smallestOutput(pipeline, context, original),
  });
  return createImage(text, contentType, plan);
}

function findWarnings(
  { body }: RenderedImage,
  variant: Variant,
  { storedFrames, page }: SourceFacts,
  { animated }: Plan,
): readonly ImageWarning[] {
  const { maxBytes } = variant;
  const texts = variant.layers?.filter((layer) => layer.kind === 'text') ?? [];
  const isDropped = storedFrames > 1 && variant.animated && page === null && !animated;
  return [
    ...(isDropped ? ['animation_dropped' as const] : []),
    ...(texts.some(({ words }) => hasMissingGlyphs(words)) ? ['text_missing_glyphs' as const] : []),
    ...(maxBytes !== null && body.byteLength > maxBytes ? ['maxbytes_exceeded' as const] : []),
  ];
}

/** Adds the fonts of texts to this process. @returns their families by the index of the layer */
async function addFonts(
  variant: Variant,
  layerBytes: readonly (Uint8Array | null)[],
): Promise<ReadonlyMap<number, string>> {
  const families = new Map<number, string>();
  for (const [index, layer] of (variant.layers ?? []).entries()) {
    const bytes = layerBytes[index] ?? null;
    if (layer.kind === 'image' || bytes === null) continue;
    families.set(index, await withLayerErrors(variant, index, () => addFont(bytes)));
  }
  return families;
}

/** Marks the errors of work on a layer as errors of it. */
async function withLayerErrors<T>(
  variant: Variant,
  index: number,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ServiceError ? errorOfLayer(variant, index, error) : error;
  }
}

/** Returns the output, or the source if it is smaller. */
async function smallestOutput(
  pipeline: Pipeline,
  context: StepContext,
  original: Output | null,
): Promise<EncodedImage> {
  const encoded = await bestOutput(pipeline, context);
  const isOriginal = original !== null && original.data.byteLength < encoded.data.byteLength;
  const { data, format } = isOriginal ? original : encoded;
  // sharp's reported size excludes the border around a window, so the plan's size is used.
  return { ...createImage(data, encodings[format].contentType, context.plan), format };
}

function createImage(
  data: Uint8Array,
  contentType: ContentType,
  { width, height }: Size,
): RenderedImage {
  // Copies, because buffers from sharp or Node's Buffer pool cannot be transferred to another
  // thread.
  const body = new Uint8Array(data);
  return { body, contentType, etag: entityTag(body), width, height };
}

/**
 * Transforms a source, without its watermark and layers.
 *
 * @throws ServiceError transform_timeout for a drawing that takes too long and is still being
 *   drawn
 */
async function transform(
  container: Container,
  variant: Variant,
  scope: Scope,
  given: Prepared | null = null,
) {
  const transformed = applied(container, variant, scope, given);
  if (container.format.uninterruptible !== true) return transformed;
  const drawn = async () => {
    // Renders before encoding, which can take longer.
    await (await transformed).pipeline.render();
    return transformed;
  };
  return withinDrawingTime(drawn(), container, scope);
}

/** Rejects with transform_timeout if drawing takes too long; the drawing continues. */
function withinDrawingTime<T>(
  drawn: Promise<T>,
  { format }: Container,
  { svgTimeoutMs }: RenderLimits,
): Promise<T> {
  const ending = new AbortController();
  const late = new ServiceError('transform_timeout', `The ${format.label} takes too long to draw.`);
  const timer = setTimeout(() => ending.abort(late), svgTimeoutMs);
  return unlessAborted(drawn, ending.signal).finally(() => clearTimeout(timer));
}

async function applied(
  container: Container,
  variant: Variant,
  scope: Scope,
  given: Prepared | null,
) {
  const lenient = variant.lenient || container.isIncomplete;
  const { sourceMaxPixels, files } = scope;
  const prepared = given ?? (await prepare(container, variant, scope));
  const { facts, file } = prepared;
  const { hasMetadata, vector } = facts.format;
  const metadata = variant.stripMetadata || !hasMetadata ? null : await keptMetadata(file);
  const copyright =
    variant.copyright && hasMetadata ? await readCopyright(file.bytes, file.format) : null;
  const openAt = async (scale: number | null, animated: boolean) => {
    const opened = { ...file, bytes: metadata?.source ?? file.bytes };
    const keepsMetadata = metadata !== null;
    const opening = { facts, file: opened, scale, animated, keepsMetadata, lenient, files };
    return await file.format.open(opening);
  };
  let { plan } = prepared;
  // Opens the source once for both passes of a trim, because some formats are decoded when opened.
  const isOpenedOnce = variant.trim !== null && !vector && !plan.animated;
  const stored = isOpenedOnce ? await openAt(null, false) : null;
  if (variant.trim !== null) {
    const open = async (scale: number | null) => {
      const source = stored ?? (await openAt(scale, false));
      return new Pipeline(source, facts, { animated: false, lenient }, scope);
    };
    const area = await findUsedArea(facts, variant, sourceMaxPixels, open);
    plan = makePlan(facts, area, variant, sourceMaxPixels);
  }
  requireKeptGainMap(facts, plan, variant);
  const context: StepContext = { plan, variant, overlays: [], metadata, copyright };
  const keepsExif = metadata?.exif === 'kept' && !facts.colour.is16Bit;
  const ignoresProfile = plan.convertedFrom !== null;
  const opening = { animated: plan.animated, lenient, keepsExif, ignoresProfile };
  const source = (plan.scale === null ? stored : null) ?? (await openAt(plan.scale, plan.animated));
  const pipeline = new Pipeline(source, facts, opening, scope);
  const apply = (steps: readonly Step[]) =>
    pipeline.apply((image) => applySteps(image, steps, context));
  if (facts.extraSamples) await apply(passes.dropSamples).render();
  if (plan.depthReduced) await apply(passes.reduceDepth).render();
  if (plan.prepared !== null) {
    apply(passes.prepare);
    if (!plan.byFrame) await pipeline.render();
  }
  for (const [index, steps] of imagePasses(context).entries()) {
    if (plan.byFrame) await pipeline.eachFrame((frame) => applySteps(frame, steps, context));
    else {
      if (index > 0) await pipeline.render();
      apply(steps);
    }
  }
  if (plan.convertedFrom !== null) {
    const { data, info } = await pipeline.plainPixels(plan);
    plan.convertedFrom.toSrgb(data, info.channels);
  }
  if (variant.opacity !== null) {
    await pipeline.render();
    apply(passes.opacity);
  }
  return { pipeline, examined: { facts, file }, context };
}

/** @param image null for a text */
async function overlayFrom(
  image: Container | null,
  layer: Layer,
  plan: Plan,
  scope: Scope,
): Promise<OverlayOptions> {
  const opened = layer.kind === 'image' ? image : openContainer(await textImage(layer, plan));
  if (opened === null) throw new Error('a layer without its image');
  const { pipeline } = await transform(opened, layerVariant(layer, plan), scope);
  const { data, info } = await pipeline.write((image) => image.ensureAlpha().raw());
  const pixels = asBuffer(data);
  plan.space?.fromSrgbPixels(pixels);
  const rendered = { pixels, width: info.width, height: info.height };
  return createOverlay(rendered, layer, plan, plan.animated);
}
