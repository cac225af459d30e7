import type { Sharp } from 'sharp';
import { encodings } from '../../pool/rendering/encode/encodings.ts';

export const encodedFormats = ['jpeg', 'webp', 'avif'] as const;
export type EncodedFormat = (typeof encodedFormats)[number];

/** An encoder's own options, such as `{ quality: 74, effort: 2 }`. */
export type EncoderOptions = Readonly<Record<string, unknown>> & { readonly quality: number };

/**
 * Encodes with the settings of the service.
 * @param quality on JPEG's scale
 */
const encodeAsService = (
  image: Sharp,
  format: EncodedFormat,
  quality: number,
  pixels: number,
): Sharp =>
  encodings[format].encode(image, {
    quality,
    lossless: false,
    sharpChroma: false,
    flat: false,
    animated: false,
    pixels,
  });

/**
 * The options that the service passes to sharp's encoder.
 * @param quality on JPEG's scale
 */
export function encoderOptions(
  format: EncodedFormat,
  quality: number,
  pixels: number,
): EncoderOptions {
  const options: Record<string, unknown> & { quality: number } = { quality };
  const recorder = {
    [format](given: object) {
      Object.assign(options, given);
      return recorder;
    },
  };
  encodeAsService(recorder as unknown as Sharp, format, quality, pixels);
  return options;
}
