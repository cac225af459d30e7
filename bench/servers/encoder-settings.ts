import type { Sharp } from 'sharp';
import { encodings } from '../../pool/rendering/encode/encodings.ts';

export const encodedFormats = ['jpeg', 'webp', 'avif'] as const;
export type EncodedFormat = (typeof encodedFormats)[number];
/** A format in which servers are compared; PNG ignores the quality. */
export type BenchFormat = EncodedFormat | 'png';

/** An encoder's own options, such as `{ quality: 74, effort: 2 }`. */
export type EncoderOptions = Readonly<Record<string, unknown>> & { readonly quality: number };

/**
 * The options that the service passes to sharp's encoder.
 * @param quality on JPEG's scale
 */
export function encoderOptions(
  format: BenchFormat,
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
  encodings[format].encode(recorder as unknown as Sharp, {
    quality,
    lossless: false,
    sharpChroma: false,
    flat: false,
    animated: false,
    pixels,
  });
  return options;
}
