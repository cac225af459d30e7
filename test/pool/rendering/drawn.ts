import sharp from 'sharp';
import { openContainer } from '../../../pool/formats/container/container.ts';
import { inspect } from '../../../pool/formats/inspect.ts';
import { render } from '../../../pool/rendering/render.ts';
import type { Variant } from '../../../pool/variant.ts';
import { near, pixels, type Rgb, shared, variant } from './pictures.ts';

export const limits = { sourceMaxPixels: 100_000_000, softTimeoutSeconds: 60, isolated: true };

/** What is known of a source before it is decoded. */
export const inspected = (source: Uint8Array, sourceMaxPixels: number, asked?: Variant) =>
  inspect(openContainer(source), { sourceMaxPixels, isolated: true }, asked);

/** A variant of a source, as PNG if nothing else is asked, with its pixels and facts. */
export async function drawn(
  source: Uint8Array | string,
  asked: Partial<Variant> = {},
  watermark: Uint8Array | null = null,
) {
  const made = await render(shared(source), watermark, variant(asked), limits);
  const { at } = await pixels(made.body);
  return {
    ...made,
    size: [made.width, made.height] as const,
    at,
    frame: (page: number) => pixels(made.body, page),
    header: () => sharp(made.body, { pages: -1 }).metadata(),
  };
}

type Readable = Pick<Awaited<ReturnType<typeof drawn>>, 'at' | 'width' | 'height'>;

/** The colours of a picture's corners, a little inside: top left, top right, bottom left, right. */
export function corners({ at, width, height }: Readable, inside = 3): number[][] {
  const [right, bottom] = [width - 1 - inside, height - 1 - inside];
  return [at(inside, inside), at(right, inside), at(inside, bottom), at(right, bottom)];
}

export function allNear(actual: readonly number[][], expected: readonly Rgb[], tolerance = 20) {
  return expected.every((colour, index) => near(actual[index] ?? [], colour, tolerance));
}

/** A PNG of one colour. */
export function plain(
  width: number,
  height: number,
  [r, g, b]: Rgb,
  alpha?: number,
): Promise<Buffer> {
  const background = alpha === undefined ? { r, g, b } : { r, g, b, alpha };
  return sharp({ create: { width, height, channels: alpha === undefined ? 3 : 4, background } })
    .png()
    .toBuffer();
}
