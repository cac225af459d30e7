import { deflateSync } from 'node:zlib';
import sharp, { type Color } from 'sharp';
import type { Gravity } from '../../../contract/image-terms.ts';
import type { SourceFacts } from '../../../pool/formats/source-format.ts';
import { type ImageLayer, plainVariant, type Variant } from '../../../pool/variant.ts';
import { watermarkLayer } from '../../../server/image/layers.ts';
import { be32, createPng } from '../../hostile/inputs/chunks.ts';
import { formatNamed } from '../formats/named.ts';
import { readable } from './readable.ts';

/** Returns a variant with changes, by default PNG. */
export function variant(changes: Partial<Variant> = {}): Variant {
  return { ...plainVariant, formats: ['png'], ...changes };
}

export interface WatermarkChanges {
  readonly position?: Gravity;
  readonly opacity?: number;
  readonly scale?: number;
  readonly margin?: number;
}

/** Returns the layer of an opaque watermark in the lower right corner, with changes. */
export function watermark(changes: WatermarkChanges = {}): readonly [ImageLayer] {
  const { position = 'southeast', opacity = 100, scale = 20, margin = 0 } = changes;
  const layer = watermarkLayer({
    watermarkEnabled: true,
    watermarkUrl: 'https://example.com/mark.png',
    watermarkPosition: position,
    watermarkOpacity: opacity,
    watermarkScale: scale,
    watermarkMargin: margin,
  });
  if (layer === null) throw new Error('the project has no watermark');
  return [layer];
}

/** Values of `modulate` with no effect. */
export const modulation = { brightness: 1, saturation: 1, hue: 0, lightness: 0 };

/** Returns the facts of an opaque JPEG, with changes. */
export function sourceFacts(width: number, height: number, changes: Partial<SourceFacts> = {}) {
  return {
    format: formatNamed('jpeg'),
    width,
    height,
    orientation: 1,
    frames: 1,
    storedFrames: 1,
    pages: 1,
    page: null,
    timing: null,
    hasAlpha: false,
    extraSamples: false,
    colour: {
      model: 'rgb',
      hasProfile: false,
      profileName: null,
      isSrgb: false,
      is16Bit: false,
      space: null,
    },
    ownDecoder: false,
    exceedsThread: false,
    gainMap: null,
    ...changes,
  } satisfies SourceFacts;
}

/** Copies bytes into shared memory, like the engine. */
export function shared(bytes: Uint8Array | string): Uint8Array {
  const from = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const to = new Uint8Array(new SharedArrayBuffer(from.byteLength));
  to.set(from);
  return to;
}

export type Rgb = readonly [number, number, number];
export const red: Rgb = [255, 0, 0];
export const green: Rgb = [0, 255, 0];
export const blue: Rgb = [0, 0, 255];
export const yellow: Rgb = [255, 255, 0];

/** Returns a single-colour image. */
export const filled = (width: number, height: number, background: Color, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background } });

/** Returns the raw pixels of four quarters: red and green over blue and yellow. */
export function quarters(width: number, height: number) {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const top = y < height / 2;
      const left = x < width / 2;
      data.set(top ? (left ? red : green) : left ? blue : yellow, (y * width + x) * 3);
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** Returns a PNG with the pixel colours [2 * x, 2 * y, 0]. */
export function gradient(width: number, height: number): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) data.set([x * 2, y * 2, 0], (y * width + x) * 3);
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns an image of random pixels, which is expensive to encode. */
export function noise(width: number, height: number) {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
  return sharp({ create: { width, height, channels: 3, background: 'white', noise } });
}

/** Returns an animation with one frame per colour. */
export async function animation(
  format: 'gif' | 'webp',
  frames: readonly Rgb[],
  size: { width: number; height: number },
  delay = frames.map((_, index) => 100 + 50 * index),
): Promise<Buffer> {
  const data = Buffer.concat(
    frames.map((colour) => Buffer.alloc(size.width * size.height * 3, Buffer.from(colour))),
  );
  const { width, height } = size;
  const raw = { width, height: height * frames.length, channels: 3 as const, pageHeight: height };
  const image = sharp(data, { raw });
  return format === 'gif'
    ? image.gif({ delay, loop: 3 }).toBuffer()
    : image.webp({ delay, loop: 3, lossless: true }).toBuffer();
}

/**
 * Returns a TIFF. Page `n` is a row of `n % 5 + 1` grey pixels of the value `n % 256`. The last
 * page links to the byte offset `last`; 0 ends the list.
 */
export function tiffOfPages(pages: number, { big = false, little = true, last = 0 } = {}): Buffer {
  const [first, count, entry, link] = big ? [16, 8, 20, 8] : [8, 2, 12, 4];
  const tags = [256, 257, 258, 259, 262, 273, 278, 279];
  const directory = count + tags.length * entry + link;
  // Each pixel row has 5 bytes, before the directories.
  const start = first + 5 * 256;
  const file = Buffer.alloc(start + pages * directory);
  const put = (value: number, at: number, bytes: number) => {
    if (bytes === 8) {
      const long = BigInt(value);
      if (little) file.writeBigUInt64LE(long, at);
      else file.writeBigUInt64BE(long, at);
    } else if (little) file.writeUIntLE(value, at, bytes);
    else file.writeUIntBE(value, at, bytes);
  };
  file.write(little ? 'II' : 'MM', 0, 'latin1');
  put(big ? 43 : 42, 2, 2);
  if (big) put(8, 4, 2);
  put(start, big ? 8 : 4, link);
  for (let value = 0; value < 256; value += 1)
    file.fill(value, first + 5 * value, first + 5 * value + 5);
  for (let page = 0; page < pages; page += 1) {
    const at = start + page * directory;
    const width = (page % 5) + 1;
    const values = [width, 1, 8, 1, 1, first + 5 * (page % 256), 1, width];
    put(tags.length, at, count);
    for (const [index, tag] of tags.entries()) {
      const field = at + count + index * entry;
      put(tag, field, 2);
      // The type LONG.
      put(4, field + 2, 2);
      put(1, field + 4, big ? 8 : 4);
      put(values[index] ?? 0, field + (big ? 12 : 8), 4);
    }
    put(page === pages - 1 ? last : at + directory, at + directory - link, link);
  }
  return file;
}

/** Returns a PNG of 1-bit black pixels that declares any size; its data can be shorter. */
export function claimingPng(width: number, height: number, rows = height): Buffer {
  const rest = Buffer.from([1, 0, 0, 0, 0]);
  const pixels = Buffer.alloc(rows * (Math.ceil(width / 8) + 1));
  return createPng([
    { type: 'IHDR', data: Buffer.concat([be32(width), be32(height), rest]) },
    { type: 'IDAT', data: deflateSync(pixels) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
}

/** Reads single pixels of an encoded image or frame, as sRGB values with alpha. */
export async function pixels(encoded: Uint8Array, page = 0) {
  const { data, info } = await sharp(await readable(encoded), { page })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    at: (x: number, y: number) => [...data.subarray((y * info.width + x) * 4).subarray(0, 4)],
  };
}

/** Returns true if each channel is within `tolerance`. */
export function near(actual: readonly number[], expected: readonly number[], tolerance = 6) {
  return expected.every((value, index) => Math.abs((actual[index] ?? -999) - value) <= tolerance);
}
