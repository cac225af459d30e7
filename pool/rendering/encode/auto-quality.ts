import { channelOffsets, type RawImage } from './indexed-png.ts';

/** The quality that gives photographs a mean SSIMULACRA2 of 77, the target for `auto`. */
export const typicalQuality = 77;

/** No photograph needed a lower quality. A higher one would have full chroma, which costs bytes. */
const bounds = { least: 45, most: 89 } as const;
/** Maximum of photographs; images with more are noise. */
const maxGrain = 16;

/**
 * Returns the quality, on the `q` scale, with an expected SSIMULACRA2 of 77: least squares over 34
 * photographs at 200, 400 and 800 px (bench/encoders at commit 70454193 lists the deviations on
 * others).
 */
export function autoQuality(image: RawImage): number {
  const texture = measureTexture(image);
  if (texture === null) return typicalQuality;
  const { fineness, chroma, grain } = texture;
  const more =
    11.7 + 29.6 * fineness + 4.28 * Math.log1p(chroma) - 0.46 * Math.min(grain, maxGrain);
  const quality = Math.round(typicalQuality + more);
  return Math.min(Math.max(quality, bounds.least), bounds.most);
}

/** Maximum 8 x 8 pixel blocks to read. */
const maxBlocks = 1_024;
const side = 8;
const area = side * side;

/** Texture measures that predict a lossy encoder's loss. */
interface Texture {
  /** Mean logarithm of gradient divided by contrast per block: low for edges, high for grain. */
  readonly fineness: number;
  /** Mean deviation of chroma within a block, in levels of 0..255. */
  readonly chroma: number;
  /** The first decile over the blocks of the mean Laplacian, in levels. */
  readonly grain: number;
}

/** Returns null if no block is complete and visible. */
function measureTexture(image: RawImage): Texture | null {
  const { data, width, height, channels } = image;
  const columns = Math.floor(width / side);
  const total = columns * Math.floor(height / side);
  const step = Math.max(1, Math.ceil(total / maxBlocks));
  const { green, blue, alpha } = channelOffsets(image);
  const luma = new Float32Array(area);
  const laplacians: number[] = [];
  let [fineness, chroma] = [0, 0];
  for (let index = 0; index < total; index += step) {
    const corner = (Math.floor(index / columns) * width + (index % columns)) * side;
    let [sum, squares, sumU, sumV, squaresUv] = [0, 0, 0, 0, 0];
    let visible = true;
    for (let pixel = 0; pixel < area; pixel += 1) {
      const at = (corner + (pixel >> 3) * width + (pixel & 7)) * channels;
      if (alpha !== null && data[at + alpha] === 0) visible = false;
      const r = data[at] ?? 0;
      const b = data[at + blue] ?? 0;
      const y = 0.299 * r + 0.587 * (data[at + green] ?? 0) + 0.114 * b;
      luma[pixel] = y;
      sum += y;
      squares += y * y;
      sumU += b - y;
      sumV += r - y;
      squaresUv += (b - y) ** 2 + (r - y) ** 2;
    }
    if (!visible) continue;
    const contrast = deviation(squares, sum ** 2);
    fineness += Math.log((gradient(luma) + 0.5) / (contrast + 1));
    chroma += deviation(squaresUv, sumU ** 2 + sumV ** 2);
    laplacians.push(laplacian(luma));
  }
  const blocks = laplacians.length;
  if (blocks === 0) return null;
  laplacians.sort((a, b) => a - b);
  const grain = laplacians[Math.floor(blocks / 10)] ?? 0;
  return { fineness: fineness / blocks, chroma: chroma / blocks, grain };
}

const deviation = (squares: number, squaredSum: number): number =>
  Math.sqrt(Math.max(0, (squares - squaredSum / area) / area));

/** Returns the mean difference between neighbours. */
function gradient(luma: Float32Array): number {
  let sum = 0;
  for (let row = 0; row < area - side; row += side) {
    for (let at = row; at < row + side - 1; at += 1) {
      const y = luma[at] ?? 0;
      sum += Math.abs(y - (luma[at + 1] ?? 0)) + Math.abs(y - (luma[at + side] ?? 0));
    }
  }
  return sum / (2 * (side - 1) ** 2);
}

/** Returns the mean difference between four times a pixel and the sum of its four neighbours. */
function laplacian(luma: Float32Array): number {
  let sum = 0;
  for (let row = side; row < area - side; row += side) {
    for (let at = row + 1; at < row + side - 1; at += 1) {
      const around =
        (luma[at - 1] ?? 0) + (luma[at + 1] ?? 0) + (luma[at - side] ?? 0) + (luma[at + side] ?? 0);
      sum += Math.abs(4 * (luma[at] ?? 0) - around);
    }
  }
  return sum / (side - 2) ** 2;
}
