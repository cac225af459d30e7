import { encode as encodeBlurhash } from 'blurhash';
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { ContentType } from '../image.ts';
import type { PlaceholderKind } from '../variant.ts';
import { type DescribedOutput, type FactInputs, imageFacts } from './image-facts/fields.ts';
import type { SmallPixels } from './image-facts/pixel-facts.ts';

/** Facts for `json`. */
export interface Description extends Pick<FactInputs, 'source' | 'bytes'> {
  /** Encodes the image that the request would get with no `placeholder`; called only if needed. */
  output(): Promise<DescribedOutput>;
}

interface Placeholder {
  readonly contentType: ContentType;
  /** @param image the transformed image; uses the first frame, and leaves the image writable */
  make(image: Sharp, description: Description): Promise<Uint8Array>;
}

const text = 'text/plain; charset=utf-8';

export const placeholders = {
  // https://blurha.sh. It cannot express transparency, so the image is flattened on white, like
  // most pages.
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
  // An image of a few hundred bytes as a data URI (RFC 2397), which the page scales up.
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
      const pixels = await shrink(image, hashSide);
      const output = await description.output();
      return bytes(JSON.stringify(await imageFacts.make({ ...description, output, pixels })));
    },
  },
} as const satisfies Record<PlaceholderKind, Placeholder>;

/** The maximum of ThumbHash; the time of both hashes grows with the square of the side. */
const hashSide = 100;
/** Minimum cosines of a ThumbHash on its shorter side; the longer one always has enough pixels. */
const hashCosines = 3;
const previewSide = 20;

async function shrink(image: Sharp, side: number, background?: string): Promise<SmallPixels> {
  // A second resize in the same pipeline would replace the first.
  const rgba = image.clone().ensureAlpha().raw({ depth: 'uchar' });
  const rendered = await rgba.toBuffer({ resolveWithObject: true });
  const { width, channels, pageHeight: height = rendered.info.height } = rendered.info;
  const frame = rendered.data.subarray(0, width * height * channels);
  const small = sharp(frame, { raw: { width, height, channels }, limitInputPixels: false });
  if (background !== undefined) small.flatten({ background });
  const { data, info } = await small
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

/**
 * Repeats the pixels of a small or narrow image. Both hashes are sums of cosines sampled at the
 * pixels: with fewer pixels than cosines, a single-colour image would decode to several colours.
 */
async function repeatPixels({ data, width, height }: SmallPixels): Promise<SmallPixels> {
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

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
