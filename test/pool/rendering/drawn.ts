import sharp from 'sharp';
import { MemoryFiles } from '../../../pool/formats/memory-files.ts';
import type { InspectionLimits } from '../../../pool/formats/source-format.ts';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import { type RenderedImage, render } from '../../../pool/rendering/render.ts';
import { plainVariant, type Variant } from '../../../pool/variant.ts';
import {
  blue,
  filled,
  green,
  near,
  pixels,
  type Rgb,
  red,
  shared,
  variant,
  yellow,
} from './pictures.ts';
import { readable } from './readable.ts';

export const limits = {
  sourceMaxPixels: 100_000_000,
  softTimeoutSeconds: 60,
  svgTimeoutMs: 60_000,
  processMemoryBytes: 1_536 * 2 ** 20,
};

/** Examines a source, in a process unless the limits say otherwise. */
export async function examined(
  source: Uint8Array,
  limits: InspectionLimits,
  options: Variant = plainVariant,
) {
  const container = openContainer(source);
  return container.format.examine(container, limits, options);
}

/** Returns the facts in a source's header. */
export const inspected = async (source: Uint8Array, sourceMaxPixels: number, options?: Variant) =>
  (await examined(source, { ...limits, sourceMaxPixels }, options)).facts;

/** Opens a source as the input of sharp; `open` opens it at another scale. */
export async function opened(source: Uint8Array, sourceMaxPixels: number, options?: Variant) {
  const { facts, file } = await examined(source, { ...limits, sourceMaxPixels }, options);
  const files = new MemoryFiles();
  const open = async (scale: number | null) =>
    file.format.open({
      facts,
      file,
      scale,
      animated: false,
      keepsMetadata: false,
      lenient: false,
      files,
    });
  return { facts, input: await open(null), open };
}

const createTask = (
  source: Uint8Array | string,
  options: Partial<Variant>,
  layers: readonly Uint8Array[],
) => ({ source: shared(source), layers, variant: variant(options), limits });

/** Renders a source's variant, by default as PNG. */
export async function rendered(
  source: Uint8Array | string,
  options: Partial<Variant> = {},
  ...layers: readonly Uint8Array[]
): Promise<RenderedImage> {
  const execution = { isolated: true, cost: null };
  const result = await render({ ...createTask(source, options, layers), execution });
  if ('isolated' in result) throw new Error('a task with an execution plan was not rendered');
  return result;
}

/** Renders a light variant, and returns the execution plan of any other. */
export const renderedIfLight = (
  source: Uint8Array | string,
  options: Partial<Variant> = {},
  ...layers: readonly Uint8Array[]
) => render({ ...createTask(source, options, layers), execution: null });

/** Renders a variant and gives access to its pixels. */
export async function drawn(...parameters: Parameters<typeof rendered>) {
  const image = await rendered(...parameters);
  const { body, width, height } = image;
  const { at } = await pixels(body);
  return {
    ...image,
    size: [width, height] as const,
    at,
    middle: at(width >> 1, height >> 1),
    frame: (page: number) => pixels(body, page),
    header: async () => sharp(await readable(body), { pages: -1 }).metadata(),
  };
}

/** Returns a variant's `json` placeholder. */
export async function described(source: Uint8Array, options: Partial<Variant> = {}) {
  const { body } = await rendered(source, { ...options, placeholder: 'json' });
  return JSON.parse(Buffer.from(body).toString());
}

type Readable = Pick<Awaited<ReturnType<typeof drawn>>, 'at' | 'width' | 'height'>;

/** Returns the colours near the corners: top left, top right, bottom left, bottom right. */
export function corners({ at, width, height }: Readable, inside = 3): number[][] {
  const [right, bottom] = [width - 1 - inside, height - 1 - inside];
  return [at(inside, inside), at(right, inside), at(inside, bottom), at(right, bottom)];
}

/** Returns the box of the pixels that a predicate selects: left, top, width, height. */
export function findBox({ at, width, height }: Readable, isSelected: (pixel: number[]) => boolean) {
  const xs: number[] = [];
  const ys: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!isSelected(at(x, y))) continue;
      xs.push(x);
      ys.push(y);
    }
  }
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left + 1, Math.max(...ys) - top + 1];
}

export function allNear(actual: readonly number[][], expected: readonly Rgb[], tolerance = 20) {
  return expected.every((colour, index) => near(actual[index] ?? [], colour, tolerance));
}

/** Returns a single-colour PNG. */
export function plain(width: number, height: number, [r, g, b]: Rgb, alpha?: number) {
  const channels = alpha === undefined ? 3 : 4;
  return filled(width, height, { r, g, b, alpha: alpha ?? 1 }, channels)
    .png()
    .toBuffer();
}

/** EXIF 2.32, tag 0x0112: the upright corners of `quarters` stored with each orientation. */
export const uprightCorners = {
  1: [red, green, blue, yellow],
  2: [green, red, yellow, blue],
  3: [yellow, blue, green, red],
  4: [blue, yellow, red, green],
  5: [red, blue, green, yellow],
  6: [blue, red, yellow, green],
  7: [yellow, green, blue, red],
  8: [green, yellow, red, blue],
} as const;
