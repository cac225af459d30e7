import type { SourceFacts } from '../formats/facts.ts';
import { kinds, type SourceKind } from '../formats/kinds.ts';
import { clipArea } from '../geometry.ts';
import type { OutputFormat, Variant } from '../variant.ts';
import { mostEncodes } from './encode/within-bytes.ts';
import { fullChromaFrom } from './encode.ts';
import { makePlan, upright } from './plan.ts';

/** An estimate, from a source's header and a variant, of what a transform takes. */
export interface Cost {
  /** CPU time in ms, on the machine of the measurements below. */
  readonly ms: number;
  /** Memory for pixels and encoder. */
  readonly bytes: number;
}

/**
 * The most that a light transform takes. The light ones are most: up to 800 px in any format, up to
 * 2,000 px in JPEG and WebP.
 */
export const lightCost: Cost = { ms: 500, bytes: 128e6 };

export const isLight = ({ ms, bytes }: Cost): boolean =>
  ms <= lightCost.ms && bytes <= lightCost.bytes;

export const noCost: Cost = { ms: 0, bytes: 0 };

/** Thrown where a transform is found to cost more than it may now. */
export class CostExceeded extends Error {
  override readonly name = 'CostExceeded';
  readonly cost: Cost;

  constructor(cost: Cost) {
    super('The transform costs more than it may.');
    this.cost = cost;
  }
}

/**
 * ms and bytes for each pixel, divided by a million: of encoders the largest value over a photograph
 * and noise of 8 megapixels, at all qualities, with the settings of `encodings`. In time, encoders
 * relate as JPEG 1, PNG 4, WebP 4, AVIF 20, WebP lossless 20, GIF 23, AVIF at quality 100 and
 * lossless 40 to 60; in memory as 1 to PNG 0.5, WebP 1, GIF 2, AVIF 5, WebP lossless 6 and AVIF
 * lossless 8.
 */
const encoding: Readonly<Record<OutputFormat, Cost>> = {
  jpeg: { ms: 35, bytes: 7 },
  png: { ms: 145, bytes: 4 },
  webp: { ms: 165, bytes: 8 },
  gif: { ms: 800, bytes: 15 },
  avif: { ms: 700, bytes: 36 },
};
/** From the quality that keeps all chroma; where the pixels decide on it, this is not known before. */
const finest: Partial<Readonly<Record<OutputFormat, Cost>>> = {
  jpeg: { ms: 100, bytes: 14 },
  webp: { ms: 400, bytes: 16 },
  avif: { ms: 1_300, bytes: 39 },
};
const losslessEncoding: Partial<Readonly<Record<OutputFormat, Cost>>> = {
  webp: { ms: 600, bytes: 41 },
  avif: { ms: 2_000, bytes: 53 },
};

/** ms for each frame, however small: quantising its colours takes 3 to 7 ms. */
export const encodingFrame: Partial<Readonly<Record<OutputFormat, number>>> = { gif: 7 };
/** The same where each frame is a pipeline of its own. */
const separateFrame = 10;

/** Decoding a pixel; `bytes` also counts the coefficients of progressive JPEGs. */
const decoding: Readonly<Record<SourceKind, Cost>> = {
  jpeg: { ms: 8, bytes: 6 },
  png: { ms: 55, bytes: 4 },
  webp: { ms: 15, bytes: 4 },
  gif: { ms: 35, bytes: 4 },
  avif: { ms: 200, bytes: 8 },
  heif: { ms: 200, bytes: 8 },
  tiff: { ms: 10, bytes: 4 },
  svg: { ms: 0, bytes: 0 },
  // Decoded here, to pixels that sharp copies; an ICO may have a PNG inside.
  bmp: { ms: 40, bytes: 8 },
  ico: { ms: 55, bytes: 8 },
  jxl: { ms: 200, bytes: 16 },
};

/** Scaling, copying and intermediate images, for each pixel of the output. */
const processing: Cost = { ms: 10, bytes: 11 };

/**
 * What an SVG takes is known only when it is drawn, and what a thread must not open is not known either;
 * until then it is expected to be costly.
 */
export const isolatedCost: Cost = { ms: 5_000, bytes: 160e6 };

export function sum(a: Cost, b: Cost): Cost {
  return { ms: a.ms + b.ms, bytes: a.bytes + b.bytes };
}

/** Opening a source alone, which is what a watermark takes. */
export function decodingCost({ kind, width, height, frames }: SourceFacts): Cost {
  return times(decoding[kind], width * height * frames);
}

export function costOf(facts: SourceFacts, variant: Variant, sourceMaxPixels: number): Cost {
  const whole = upright(facts);
  const area = variant.crop === null ? null : clipArea(variant.crop, whole);
  const plan = makePlan(facts, area, variant, sourceMaxPixels);
  const frames = plan.animated ? facts.frames : 1;
  // A frame is made from those before it.
  const decoded = kinds[facts.kind].animates ? Math.max(frames, (facts.page ?? 0) + 1) : frames;
  const pixels = plan.width * plan.height * frames;
  const trimmed = variant.trim === null ? 0 : Math.min(8e6, whole.width * whole.height);
  return [
    decodingCost({ ...facts, frames: decoded }),
    times({ ms: 450, bytes: 4 }, trimmed),
    times({ ms: filtering(variant), bytes: 0 }, pixels),
    times(processing, pixels),
    { ms: plan.byFrame ? separateFrame * frames : 0, bytes: 0 },
    encodes(times(encodingCost(plan.format, variant), pixels), variant),
    encodes({ ms: frames > 1 ? frames * (encodingFrame[plan.format] ?? 0) : 0, bytes: 0 }, variant),
  ].reduce(sum);
}

function encodingCost(format: OutputFormat, { lossless, quality }: Variant): Cost {
  const exact = lossless ? losslessEncoding[format] : undefined;
  if (exact !== undefined) return exact;
  const isFine = quality !== 'auto' && quality >= fullChromaFrom;
  return (isFine ? finest[format] : undefined) ?? encoding[format];
}

/** One after the other, so that the memory is that of one. */
function encodes({ ms, bytes }: Cost, { maxBytes, lossless }: Variant): Cost {
  return { ms: maxBytes === null || lossless === true ? ms : mostEncodes * ms, bytes };
}

/** ms for each million pixels, measured on a photograph. */
function filtering(variant: Variant): number {
  const { median, blur, sharpen, modulate, normalize, rotate, enlarge } = variant;
  return (
    (median === null ? 0 : 500) +
    (blur === null ? 0 : 10 + 1.5 * blur) +
    (sharpen === null ? 0 : 120 + 25 * sharpen) +
    (modulate === null ? 0 : 100) +
    (normalize ? 180 : 0) +
    (rotate % 90 === 0 ? 0 : 45) +
    (enlarge ? 40 : 0)
  );
}

function times({ ms, bytes }: Cost, pixels: number): Cost {
  return { ms: (ms * pixels) / 1e6, bytes: bytes * pixels };
}
