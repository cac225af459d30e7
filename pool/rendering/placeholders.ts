import { encode as encodeBlurhash } from 'blurhash';
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { Size } from '../geometry.ts';
import type { OutputFormat, PlaceholderKind } from '../variant.ts';

/** Metadata for the `json` placeholder. Sizes are of one frame, in pixels. */
export interface Description {
  readonly source: Size & {
    /** Such as `jpeg`. */
    readonly format: string;
    readonly bytes: number;
    /** Pages, images or frames in the file. */
    readonly pages: number;
    readonly hasAlpha: boolean;
  };
  /** Encodes the output of the same request without the placeholder; called only where needed. */
  output(): Promise<Size & { readonly format: OutputFormat; readonly bytes: number }>;
}

interface Placeholder {
  readonly contentType: string;
  /** @param image one transformed frame, which can still be written later */
  make(image: Sharp, description: Description): Promise<Uint8Array>;
}

const text = 'text/plain; charset=utf-8';

export const placeholders = {
  // https://blurha.sh. It has no transparency, so the image is flattened on white, as on most pages.
  blurhash: {
    contentType: text,
    async make(image) {
      const { data, width, height } = await repeatPixels(await shrink(image, hashSide, '#ffffff'));
      const longer = Math.max(width, height);
      const components = (side: number) => Math.ceil((4 * side) / longer);
      return bytes(encodeBlurhash(data, width, height, components(width), components(height)));
    },
  },
  // https://evanw.github.io/thumbhash, in base64 (RFC 4648, 4), as in its examples.
  thumbhash: {
    contentType: text,
    async make(image) {
      const { data, width, height } = await repeatPixels(await shrink(image, hashSide));
      return bytes(Buffer.from(rgbaToThumbHash(width, height, data)).toString('base64'));
    },
  },
  // An image of a few hundred bytes as a data URI (RFC 2397), to be scaled up by the page.
  lqip: {
    contentType: text,
    async make(image) {
      const { data, width, height } = await shrink(image, previewSide);
      const preview = sharp(data, { raw: { width, height, channels: 4 } });
      const webp = await preview.webp({ quality: 40, alphaQuality: 40, effort: 4 }).toBuffer();
      return bytes(`data:image/webp;base64,${webp.toString('base64')}`);
    },
  },
  json: {
    contentType: 'application/json',
    async make(image, description) {
      const { data } = await shrink(image, hashSide);
      const { source } = description;
      const output = await description.output();
      return bytes(JSON.stringify({ source, output, dominant: dominantColour(data) }));
    },
  },
} as const satisfies Record<PlaceholderKind, Placeholder>;

/** The maximum of ThumbHash; the time of both hashes grows with the square of the side. */
const hashSide = 100;
/** Minimum cosines of a ThumbHash on its shorter side; the longer one always has enough pixels. */
const hashCosines = 3;
const previewSide = 20;

interface Pixels extends Size {
  /** RGBA, 8 bits per channel, not premultiplied. */
  readonly data: Uint8ClampedArray;
}

async function shrink(image: Sharp, side: number, background?: string): Promise<Pixels> {
  // A second resize in the same pipeline would replace the first one.
  const rgba = image.clone().ensureAlpha().raw({ depth: 'uchar' });
  const rendered = await rgba.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = rendered.info;
  const small = sharp(rendered.data, { raw: { width, height, channels }, limitInputPixels: false });
  if (background !== undefined) small.flatten({ background });
  const { data, info } = await small
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

/**
 * Repeats the pixels of a small or narrow image. Both hashes are sums of cosines sampled at the pixels: with
 * fewer pixels than cosines, an image of one colour decodes to others.
 */
async function repeatPixels({ data, width, height }: Pixels): Promise<Pixels> {
  const times = Math.max(1, Math.floor(hashSide / Math.max(width, height)));
  const length = (side: number) => times * side * Math.ceil(hashCosines / (times * side));
  const size = { width: length(width), height: length(height) };
  if (size.width === width && size.height === height) return { data, width, height };
  const repeated = await sharp(data, { raw: { width, height, channels: 4 } })
    .resize({ ...size, fit: 'fill', kernel: 'nearest' })
    .raw()
    .toBuffer();
  return { data: new Uint8ClampedArray(repeated), ...size };
}

/**
 * The dominant colour as `#rrggbb`: the average of the most frequent of 4096 groups of similar
 * colours, weighted by opacity. Null for a fully transparent image.
 */
function dominantColour(data: Uint8ClampedArray): string | null {
  const none = { red: 0, green: 0, blue: 0, weight: 0 };
  const groups = new Map<number, typeof none>();
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, green = 0, blue = 0, weight = 0] = data.subarray(at, at + 4);
    const key = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const sum = groups.get(key) ?? none;
    groups.set(key, {
      red: sum.red + red * weight,
      green: sum.green + green * weight,
      blue: sum.blue + blue * weight,
      weight: sum.weight + weight,
    });
  }
  let most = none;
  for (const group of groups.values()) if (group.weight > most.weight) most = group;
  if (most.weight === 0) return null;
  const mean = [most.red, most.green, most.blue].map((sum) => Math.round(sum / most.weight));
  return `#${Buffer.from(mean).toString('hex')}`;
}

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
