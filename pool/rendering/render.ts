import type { OverlayOptions } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { asBuffer } from '../formats/bytes.ts';
import { withoutExcessMetadata } from '../formats/container/container.ts';
import { MemoryFiles } from '../formats/memory-files.ts';
import type { Container } from '../formats/source-format.ts';
import { openContainer } from '../formats/source-formats.ts';
import type { Size } from '../geometry.ts';
import { type ContentType, entityTag, type Image, type ImageWarning } from '../image.ts';
import { errorOfLayer } from '../inputs.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { type Layer, plainVariant, type Variant } from '../variant.ts';
import { bestOutput, findOriginal } from './encode/choose.ts';
import { encodings, type OutputFormat } from './encode/encodings.ts';
import { isSvgOutput, svgOutput } from './encode/svg/output.ts';
import { type ExecutionPlan, type OpenedInputs, planExecution } from './execution-plan.ts';
import { uprightSize } from './image-facts/fields.ts';
import { createOverlay, layerVariant, replacement } from './layer.ts';
import { type InspectedSource, type OpenedImage, openImage, type Scope } from './open-image.ts';
import { type Place, requestedOperations } from './operations.ts';
import type { RenderLimits } from './pipeline.ts';
import type { PixelFrame } from './pixel-effects.ts';
import { placeholders } from './placeholders.ts';
import { applySteps, imagePasses, overlaysAbove, passes, type Step } from './steps.ts';
import { addFont, hasMissingGlyphs, loadAddedFonts } from './text/font-folder.ts';
import { textImage } from './text/render-text.ts';
import { isClipped } from './used-area.ts';

/** An image with its body in a separate ArrayBuffer, which can be transferred to another thread. */
export type RenderedImage = Omit<Image, 'fetchedAt'> & { readonly body: Uint8Array<ArrayBuffer> };

/** A transform, as it is sent to a thread or a process. */
export interface RenderTask {
  readonly source: Uint8Array;
  /** Bytes of the layers' images and fonts; null for texts without their own font. */
  readonly layers: readonly (Uint8Array | null)[];
  readonly variant: Variant;
  readonly limits: RenderLimits;
  /** Null for a thread, which then makes the plan, and renders a light variant at once. */
  readonly execution: ExecutionPlan | null;
}

/**
 * Renders a variant of a source on this thread or in this process. `runTask` (execution/task.ts)
 * calls it, at first on a thread and without an execution plan. If the task must run in a process
 * or wait for its turn, this returns the plan instead, and `TransformQueue` (execution/) sends the
 * task there with the plan.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid,
 *   transform_timeout
 */
export async function render(task: RenderTask): Promise<RenderedImage | ExecutionPlan> {
  const inputs = await openInputs(task);
  if (task.execution !== null) return renderOpened(task, inputs, []);
  const { plan, inspected } = await planExecution(inputs, task.variant, task.limits);
  return plan.isolated || plan.cost !== null ? plan : renderOpened(task, inputs, inspected);
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

/** @param inspected the source and the layers, if they have been inspected */
async function renderOpened(
  task: RenderTask,
  inputs: OpenedInputs,
  [inspected = null, ...layers]: readonly (InspectedSource | null)[],
): Promise<RenderedImage> {
  const { variant, limits } = task;
  const { source } = inputs;
  if (isSvgOutput(source, variant)) {
    const written = svgOutput(source, variant, limits.sourceMaxPixels);
    const svg = await withinDrawingTime(written, source, limits);
    if (svg !== null) return createImage(svg.body, encodings.svg.contentType, svg);
  }
  const scope = { ...limits, files: new MemoryFiles() };
  try {
    const image = await transform(source, variant, scope, inspected);
    await drawLayers(image, task, inputs, layers, scope);
    return await (variant.placeholder === null
      ? encode(image, inputs)
      : describe(image, task, variant.placeholder));
  } catch (error) {
    const isCorrupt = error instanceof ServiceError && error.code === 'source_corrupt';
    if (!isCorrupt || !variant.animated || source.frames < 2) throw error;
    // Often only a later frame of an animation is damaged.
    const still = { ...task, variant: { ...variant, animated: false } };
    const image = await renderOpened(still, inputs, [null, ...layers]);
    return variant.placeholder === null
      ? { ...image, warnings: ['animation_dropped', ...(image.warnings ?? [])] }
      : image;
  } finally {
    scope.files.close();
  }
}

/** The order from an opened image to its pixels. A step without work returns at once. */
const order: readonly ((image: OpenedImage) => Promise<void>)[] = [
  dropExtraSamples,
  reduceDepth,
  cropAndShrink,
  (image) => changePixels(image, 'areas', image.context.plan.prepared ?? image.context.plan),
  resizeAndFilter,
  convertToSrgb,
  (image) => changePixels(image, 'pixels', image.context.plan),
  applyOpacity,
];

/**
 * Opens the source or a layer's image, and runs the steps.
 *
 * @throws ServiceError transform_timeout for a drawing that takes too long and is still being
 *   drawn
 */
async function transform(
  container: Container,
  variant: Variant,
  scope: Scope,
  inspected: InspectedSource | null = null,
): Promise<OpenedImage> {
  const isDrawn = container.format.uninterruptible === true;
  const run = async () => {
    const image = await openImage(container, variant, scope, inspected);
    for (const step of order) await step(image);
    // Encoding can take longer than the time for drawing.
    if (isDrawn) await image.pipeline.render();
    return image;
  };
  return isDrawn ? withinDrawingTime(run(), container, scope) : run();
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

/** Adds a pass to the pipeline, which runs when the pipeline is rendered or written. */
const addPass = ({ pipeline, context }: OpenedImage, steps: readonly Step[]) =>
  pipeline.apply((image) => applySteps(image, steps, context));

async function dropExtraSamples(image: OpenedImage): Promise<void> {
  if (image.facts.extraSamples) await addPass(image, passes.dropSamples).render();
}

async function reduceDepth(image: OpenedImage): Promise<void> {
  if (image.context.plan.depthReduced) await addPass(image, passes.reduceDepth).render();
}

async function cropAndShrink(image: OpenedImage): Promise<void> {
  const { prepared, byFrame } = image.context.plan;
  if (prepared === null) return;
  const pipeline = addPass(image, passes.prepare);
  if (!byFrame) await pipeline.render();
}

async function resizeAndFilter(image: OpenedImage): Promise<void> {
  const { pipeline, context } = image;
  for (const [index, steps] of imagePasses(context).entries()) {
    if (context.plan.byFrame) {
      await pipeline.eachFrame((frame) => applySteps(frame, steps, context));
    } else {
      if (index > 0) await pipeline.render();
      addPass(image, steps);
    }
  }
}

async function convertToSrgb({ pipeline, context: { plan } }: OpenedImage): Promise<void> {
  if (plan.convertedFrom === null) return;
  const { data, info } = await pipeline.plainPixels(plan);
  plan.convertedFrom.toSrgb(data, info.channels);
}

/** Runs the operations at a place that sharp does not have. @param size the image's */
async function changePixels(
  { pipeline, context }: OpenedImage,
  place: Place,
  size: Size,
): Promise<void> {
  const { plan, variant } = context;
  const requested = requestedOperations(variant, place);
  if (requested.length === 0) return;
  const change = async (frame: PixelFrame) => {
    for (const { operation, value } of requested) await operation.change?.(frame, value, plan);
  };
  if (plan.byFrame) return pipeline.changeFrames(change);
  if (plan.plainPixels) {
    const { data, info } = await pipeline.plainPixels(size);
    return change({ ...info, data });
  }
  // Raw pixels would lose metadata and profile, so they replace those of the rendered image.
  const frame = await pipeline.rgba();
  await change(frame);
  const overlays = replacement(frame);
  pipeline.apply((image) => applySteps(image, passes.layers, { ...context, overlays }));
  // sharp composites last.
  await pipeline.render();
}

async function applyOpacity(image: OpenedImage): Promise<void> {
  if (requestedOperations(image.context.variant, 'below layers').length === 0) return;
  await image.pipeline.render();
  addPass(image, passes.opacity);
}

/** Draws the watermark and the layers on the transformed source. */
async function drawLayers(
  { pipeline, context }: OpenedImage,
  { variant, layers: bytes }: RenderTask,
  { layers: images }: OpenedInputs,
  inspected: readonly (InspectedSource | null)[],
  scope: Scope,
): Promise<void> {
  const layers = variant.layers ?? [];
  const families = await addFonts(layers, variant, bytes);
  const overlays: OverlayOptions[] = [];
  // The fonts of texts must not be in SVGs.
  for (const kind of ['image', 'text'] as const) {
    if (kind === 'text' && families.size > 0) await loadAddedFonts();
    for (const [index, layer] of layers.entries()) {
      if (layer.kind !== kind) continue;
      const font = families.get(index);
      const drawn = layer.kind === 'text' && font !== undefined ? { ...layer, font } : layer;
      overlays[index] = await withLayerErrors(variant, index, () =>
        drawLayer(images[index] ?? null, inspected[index] ?? null, drawn, context.plan, scope),
      );
    }
  }
  await drawOverlays({ pipeline, context }, overlays);
}

/** Draws overlays, and then what the operations above the layers draw. */
async function drawOverlays(
  { pipeline, context }: Pick<OpenedImage, 'pipeline' | 'context'>,
  ofLayers: readonly OverlayOptions[],
): Promise<void> {
  const overlays = [...ofLayers, ...overlaysAbove(context)];
  if (overlays.length === 0) return;
  await pipeline.render();
  pipeline.apply((image) => applySteps(image, passes.layers, { ...context, overlays }));
}

/** Adds the fonts of texts to this process. @returns their families by the index of the layer */
async function addFonts(
  layers: readonly Layer[],
  variant: Variant,
  layerBytes: readonly (Uint8Array | null)[],
): Promise<ReadonlyMap<number, string>> {
  const families = new Map<number, string>();
  for (const [index, layer] of layers.entries()) {
    const bytes = layerBytes[index] ?? null;
    if (layer.kind === 'image' || bytes === null) continue;
    families.set(index, await withLayerErrors(variant, index, () => addFont(bytes)));
  }
  return families;
}

/**
 * @param image null for a text
 * @param inspected null if the image has not been inspected yet
 */
async function drawLayer(
  image: Container | null,
  inspected: InspectedSource | null,
  layer: Layer,
  plan: OpenedImage['context']['plan'],
  scope: Scope,
): Promise<OverlayOptions> {
  const opened = layer.kind === 'image' ? image : openContainer(await textImage(layer, plan));
  if (opened === null) throw new Error('a layer without its image');
  const drawn = await transform(opened, layerVariant(layer, plan), scope, inspected);
  await drawOverlays(drawn, []);
  const { pipeline } = drawn;
  const { data, info } = await pipeline.write((pixels) => pixels.ensureAlpha().raw());
  const pixels = asBuffer(data);
  plan.space?.fromSrgbPixels(pixels);
  const rendered = { pixels, width: info.width, height: info.height };
  return createOverlay(rendered, layer, plan, plan.animated);
}

/** Attributes the errors of work on a layer to the layer. */
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

/** Returns the image's bytes, with warnings about differences from the request. */
async function encode(image: OpenedImage, inputs: OpenedInputs): Promise<RenderedImage> {
  const { format, ...encoded } = await encodeSmallest(image);
  const warnings = findWarnings(encoded, image, inputs);
  return warnings.length === 0 ? encoded : { ...encoded, warnings };
}

function findWarnings(
  { body }: RenderedImage,
  { facts, context }: OpenedImage,
  inputs: OpenedInputs,
): readonly ImageWarning[] {
  const { variant } = context;
  const { storedFrames, page } = facts;
  const { animated, maxBytes, layers } = variant;
  const isIncomplete = [inputs.source, ...inputs.layers].some(
    (input) => input?.isIncomplete === true,
  );
  const isDropped = storedFrames > 1 && animated && page === null && !context.plan.animated;
  const texts = layers?.filter((layer) => layer.kind === 'text') ?? [];
  return [
    ...(isIncomplete ? ['source_incomplete' as const] : []),
    ...(isDropped ? ['animation_dropped' as const] : []),
    ...(isClipped(facts, variant) ? ['crop_clipped' as const] : []),
    ...(texts.some(({ words }) => hasMissingGlyphs(words)) ? ['text_missing_glyphs' as const] : []),
    ...(maxBytes !== null && body.byteLength > maxBytes ? ['maxbytes_exceeded' as const] : []),
  ];
}

/** Returns a placeholder or facts instead of the image. */
async function describe(
  image: OpenedImage,
  task: RenderTask,
  kind: keyof typeof placeholders,
): Promise<RenderedImage> {
  const { pipeline, facts, context } = image;
  const { contentType, make } = placeholders[kind];
  const open = await pipeline.render();
  const text = await make(open(), {
    source: facts,
    bytes: task.source.byteLength,
    output: () => encodeSmallest(image),
  });
  const described = createImage(text, contentType, context.plan);
  return kind === 'json' ? { ...described, sourceSize: uprightSize(facts) } : described;
}

/** Returns the output, or the source if it is smaller. */
async function encodeSmallest({
  pipeline,
  facts,
  file,
  context,
}: OpenedImage): Promise<RenderedImage & { readonly format: OutputFormat }> {
  const original = findOriginal({ facts, file }, context);
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
