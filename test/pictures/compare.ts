import sharp from 'sharp';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels of an image after decoding, as sRGB with alpha. */
export interface Decoded extends Size {
  /** RGBA, 8 bits per channel. */
  readonly data: Uint8Array;
  readonly hasProfile: boolean;
  /** 1 unless animated. */
  readonly frames: number;
}

/** Differences below which images count as the same. */
export interface Tolerance {
  /** Mean difference of a channel, 0..255. */
  readonly mean: number;
  /** Largest difference in any channel of any pixel, 0..255. */
  readonly most: number;
}

export interface Difference {
  readonly mean: number;
  readonly most: number;
  /** Descriptions of the differences; empty within the tolerance. */
  readonly reasons: readonly string[];
}

/** Decodes an image's first frame. */
export async function decode(image: Uint8Array): Promise<Decoded> {
  const options = { limitInputPixels: false } as const;
  const { hasProfile, pages = 1 } = await sharp(image, options).metadata();
  const { data, info } = await sharp(image, options)
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data, hasProfile, frames: pages };
}

/** Compares an image with its reference, ignoring the colours of transparent pixels. */
export function compare(made: Decoded, expected: Decoded, tolerance: Tolerance): Difference {
  const reasons: string[] = [];
  if (made.width !== expected.width || made.height !== expected.height) {
    const size = ({ width, height }: Decoded) => `${width} x ${height}`;
    const turned = made.width === expected.height && made.height === expected.width;
    const what = turned ? 'orientation' : 'size';
    return { mean: 0, most: 0, reasons: [`${what}: ${size(made)}, not ${size(expected)}`] };
  }
  if (made.frames !== expected.frames) {
    reasons.push(`frames: ${made.frames}, not ${expected.frames}`);
  }
  if (made.hasProfile !== expected.hasProfile) {
    reasons.push(`profile: ${made.hasProfile ? 'has' : 'has not'} one`);
  }
  const { mean, most, alpha } = pixelDifference(made.data, expected.data);
  if (alpha.mean > tolerance.mean || alpha.most > tolerance.most) {
    reasons.push(`alpha: by ${alpha.mean.toFixed(2)} in the mean, up to ${alpha.most}`);
  }
  if (mean > tolerance.mean || most > tolerance.most) {
    reasons.push(`pixels: by ${mean.toFixed(2)} in the mean, up to ${most}`);
  }
  return { mean, most, reasons };
}

function pixelDifference(made: Uint8Array, expected: Uint8Array) {
  let [sum, most] = [0, 0];
  const alpha = { mean: 0, most: 0 };
  const pixels = Math.max(1, made.length / 4);
  for (let at = 0; at < made.length; at += 4) {
    const [a = 0, b = 0] = [made[at + 3], expected[at + 3]];
    alpha.mean += Math.abs(a - b) / pixels;
    alpha.most = Math.max(alpha.most, Math.abs(a - b));
    for (let channel = at; channel < at + 3; channel += 1) {
      const off = Math.abs((made[channel] ?? 0) * a - (expected[channel] ?? 0) * b) / 255;
      sum += off;
      if (off > most) most = off;
    }
  }
  return { mean: sum / (pixels * 3), most: Math.round(most), alpha };
}
