import type { Rgba } from '../colour.ts';
import type { PixelArea, PixelFrame } from './pixel-effects.ts';

/** What shows behind an image: a blurred copy that covers the frame, or one colour. */
export interface Backdrop {
  /** Sigma of the copy in CSS pixels; null for the mean colour of the image's outermost pixels. */
  readonly blur: number | null;
}

/** Sigma of the copy when it is blurred. A larger sigma is reached by making it smaller. */
const maxSigma = 4;

/**
 * Draws behind the image in a frame, in place.
 *
 * @param inner the image's place
 * @param cssPixel pixels per CSS pixel
 * @param below what shows through a transparent backdrop, or null for nothing
 */
export async function drawBackdrop(
  frame: PixelFrame,
  inner: PixelArea,
  { blur }: Backdrop,
  cssPixel: number,
  below: Rgba | null,
): Promise<void> {
  const behind =
    blur === null
      ? Buffer.alloc(frame.width * frame.height * 4, meanOfEdge(frame, inner))
      : await blurredCopy(frame, inner, blur * cssPixel);
  drawBehind(frame, inner, behind, below);
}

/** Returns a copy of the image that covers the frame, as RGBA. */
async function blurredCopy(
  { data, width, height, channels }: PixelFrame,
  inner: PixelArea,
  sigma: number,
): Promise<Uint8Array> {
  // The table of operations is read by processes that must not load sharp.
  const { default: sharp } = await import('sharp');
  const shrink = Math.max(1, sigma / maxSigma);
  const side = (length: number) => Math.max(1, Math.round(length / shrink));
  const options = { limitInputPixels: false };
  const small = await sharp(data, { ...options, raw: { width, height, channels } })
    .extract(inner)
    .resize({ width: side(width), height: side(height), fit: 'cover' })
    .blur({ sigma: Math.max(0.3, sigma / shrink) })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return sharp(small.data, { ...options, raw: small.info })
    .resize({ width, height, fit: 'fill', kernel: 'cubic' })
    .raw()
    .toBuffer();
}

/** Returns the mean colour of the outermost pixels, weighted by opacity, as RGBA. */
function meanOfEdge({ data, width, channels }: PixelFrame, inner: PixelArea): Uint8Array {
  const sums = [0, 0, 0, 0];
  let count = 0;
  const [right, bottom] = [inner.left + inner.width - 1, inner.top + inner.height - 1];
  for (let y = inner.top; y <= bottom; y += 1) {
    const step = y === inner.top || y === bottom ? 1 : Math.max(1, inner.width - 1);
    for (let x = inner.left; x <= right; x += step) {
      const at = (y * width + x) * channels;
      const alpha = channels === 4 ? (data[at + 3] ?? 0) : 255;
      for (let channel = 0; channel < 3; channel += 1) {
        sums[channel] = (sums[channel] ?? 0) + alpha * (data[at + channel] ?? 0);
      }
      sums[3] = (sums[3] ?? 0) + alpha;
      count += 1;
    }
  }
  const [red = 0, green = 0, blue = 0, weight = 0] = sums;
  const colour = [red, green, blue].map((sum) => Math.round(sum / Math.max(weight, 1)));
  return Uint8Array.of(...colour, Math.round(weight / count));
}

/** Blends pixels under those of a frame. What is around its image counts as transparent. */
function drawBehind(
  { data, width, height, channels }: PixelFrame,
  { left, top, ...size }: PixelArea,
  behind: Uint8Array,
  below: Rgba | null,
): void {
  const last = below === null ? null : [below.r, below.g, below.b];
  for (let y = 0, pixel = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, pixel += 1) {
      const isInside = x >= left && x < left + size.width && y >= top && y < top + size.height;
      const at = pixel * channels;
      const own = isInside ? (channels === 4 ? (data[at + 3] ?? 0) : 255) : 0;
      if (own === 255) continue;
      const added = ((255 - own) * (behind[4 * pixel + 3] ?? 0)) / 255;
      const alpha = own + added;
      for (let channel = 0; channel < 3; channel += 1) {
        const sum = own * (data[at + channel] ?? 0) + added * (behind[4 * pixel + channel] ?? 0);
        data[at + channel] = Math.round(
          last === null
            ? sum / Math.max(alpha, 1e-3)
            : (sum + (255 - alpha) * (last[channel] ?? 0)) / 255,
        );
      }
      if (channels === 4) data[at + 3] = last === null ? Math.round(alpha) : 255;
    }
  }
}
