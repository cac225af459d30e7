import type { Sharp } from 'sharp';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import { encodeJxl } from '../../pool/rendering/encode/jxl/encoder.ts';
import type { JxlOptions } from '../../pool/rendering/encode/jxl/thread.ts';
import { jxlOptions } from '../../pool/rendering/encode/jxl/write.ts';
import { encodedFormats } from '../servers/encoder-settings.ts';
import type { Encode } from './curves.ts';

export const comparedFormats = [...encodedFormats, 'jxl'] as const;
export type ComparedFormat = (typeof comparedFormats)[number];

/** Formats that can keep every pixel. */
export const losslessFormats = ['webp', 'avif', 'jxl'] as const satisfies ComparedFormat[];

/** Encodes a format with the service's settings; the quality is on JPEG's scale. */
export const encodeAs =
  (format: ComparedFormat, lossless = false): Encode =>
  (image, quality, { width, height, traits }) => {
    const { sharpChroma, flat } = traits;
    const pixels = width * height;
    const options = { quality, lossless, sharpChroma, flat, animated: false, pixels };
    return format === 'jxl'
      ? writeJxl(image, jxlOptions(options))
      : encodings[format].encode(image, options).toBuffer();
  };

/** Encodes a JPEG XL with the encoder's own options. */
export async function writeJxl(image: Sharp, options: JxlOptions): Promise<Uint8Array> {
  const { data: bytes, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const form = { type: 'pixels', width, height, channels } as const;
  return encodeJxl({ bytes, form }, options, timeoutS);
}

const timeoutS = 60;
