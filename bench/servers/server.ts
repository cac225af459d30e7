import type { Sharp } from 'sharp';
import { encodings } from '../../pool/rendering/encode/encodings.ts';

/** An image; every server has a URL for it. */
export interface BenchRequest {
  /** Its query can end with `{n}`, to make each number a different source. */
  readonly source: string;
  readonly width: number;
  /** Height of the box that the image must fit; if omitted, only the width counts. */
  readonly height?: number;
  readonly format: BenchFormat;
  /** Of the image; the service's encoder settings depend on them. */
  readonly pixels: number;
  /** On JPEG's scale, as the service takes it. */
  readonly quality: number;
}

/** A measured server. */
export interface Server {
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** Its first process; null if the bench did not start it. */
  readonly pid: number | null;
  /** From its process's start to its first response, ms; null if the bench did not start it. */
  readonly healthyMs: number | null;
  close(): Promise<void>;
}

/** A server that renders images. */
export interface ImageServer extends Server {
  imageUrl(request: BenchRequest): string;
}

/** The source's URL, percent-encoded except for `{n}`. */
export const encodedSource = (source: string): string =>
  encodeURIComponent(source).replaceAll('%7Bn%7D', '{n}');

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
