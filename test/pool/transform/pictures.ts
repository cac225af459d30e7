import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { plainVariant, type Variant } from '../../../pool/transform/variant.ts';

/** The project's defaults, with what a test asks for. */
export function variant(asked: Partial<Variant> = {}): Variant {
  return {
    ...plainVariant,
    formats: ['png'],
    ...asked,
  };
}

/** Bytes as the engine holds a source. */
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

/** Raw pixels of four quarters: red, green over blue, yellow. */
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

/** A picture whose pixels differ enough that encoders have work to do. */
export function noise(width: number, height: number) {
  return sharp({
    create: {
      width,
      height,
      channels: 3,
      background: 'white',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });
}

/** Two or more frames of one colour each, as an animated picture. */
export async function animation(
  format: 'gif' | 'webp',
  frames: readonly Rgb[],
  size: { width: number; height: number },
  delay = frames.map((_, index) => 100 + 50 * index),
): Promise<Buffer> {
  const data = Buffer.concat(
    frames.map((colour) => Buffer.alloc(size.width * size.height * 3, Buffer.from(colour))),
  );
  const raw = {
    width: size.width,
    height: size.height * frames.length,
    channels: 3 as const,
    pageHeight: size.height,
  };
  const image = sharp(data, { raw });
  return format === 'gif'
    ? image.gif({ delay, loop: 3 }).toBuffer()
    : image.webp({ delay, loop: 3, lossless: true }).toBuffer();
}

/** A PNG of 1-bit black pixels whose header tells any size; its data may be shorter than that. */
export function claimingPng(width: number, height: number, rows = height): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(rows * (Math.ceil(width / 8) + 1)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Node 20 has no zlib.crc32 before 20.15. */
function crc32(bytes: Buffer): number {
  let register = 0xffffffff;
  for (const byte of bytes) {
    register ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      register = (register >>> 1) ^ (register & 1 ? 0xedb88320 : 0);
    }
  }
  return (register ^ 0xffffffff) >>> 0;
}

/** Reads single pixels of an encoded picture, as sRGB values with alpha; page is the frame. */
export async function pixels(encoded: Uint8Array, page = 0) {
  const { data, info } = await sharp(encoded, { page })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    at: (x: number, y: number) => [...data.subarray((y * info.width + x) * 4).subarray(0, 4)],
  };
}

/** True when each channel is within `tolerance`. */
export function near(actual: readonly number[], expected: readonly number[], tolerance = 6) {
  return expected.every((value, index) => Math.abs((actual[index] ?? -999) - value) <= tolerance);
}
