import { channelOffsets, type RawImage } from './indexed-png.ts';

/** Properties of an image's pixels that the choice of an encoder depends on. */
export interface PixelTraits {
  /** True when half the resolution of chroma (4:2:0) would visibly blur saturated edges. */
  readonly sharpChroma: boolean;
  /** Whether most of the image lacks texture. */
  readonly flat: boolean;
  /**
   * Estimated bytes for a drawing as WebP without visible losses, divided by lossy WebP at `q=80`.
   * Drawings are flat images with some colours, such as logos, text and charts, and any image with
   * few colours or few different blocks, such as patterns and dithered images. Infinity for other
   * images.
   */
  readonly losslessBytes: number;
}

/** Maximum 2 x 2 pixel blocks to read: enough for shares of 0.2%. */
const maxBlocks = 4_096;

/** Levels of 0..255 within a flat area: decoded JPEGs differ by a level or two. */
const flatRange = 2;
const sharpRange = 80;

/**
 * Shares of all blocks, and colour counts from one pixel per block. Of 96 photographs at 200, 400,
 * 800 and 1600 px no photograph counts as drawn: flat photographs contain more than 1,300 colours.
 * Logos and texts are flat in 0.51 to 0.98 of their blocks and have 4 to 910 colours. Of 56 other
 * photographs 40 to 800 px wide, none that is not flat has 64 colours, or 16 grey levels. Lossless
 * encoding is smaller for patterns and 4-colour dithered images, and about equal for photographs
 * dithered to 16 colours. Sharp chroma occurs in four of the photographs at 200 px, in two at 400
 * and in none above: in all of them saturated colours alternate with white or grey from pixel to
 * pixel.
 */
const limits = {
  flat: 0.5,
  flatColours: 512,
  anyColours: 64,
  anyGreys: 16,
  repeated: 0.4,
  flatSharp: 0.004,
  anySharp: 0.03,
};

/**
 * Coefficients for the logarithm of `losslessBytes`: least squares over 221 drawings and
 * screenshots of 200 to 1400 px, with a standard deviation of 0.29 (bench/encoders at commit
 * 70454193). Few colours, repeated blocks, hard edges, many pixels, and chroma that lossy WebP
 * blurs favour lossless encoding. In a gradient flat blocks differ too, so different blocks
 * outnumber textured blocks.
 */
const estimate = {
  constant: 0.85,
  colours: 0.19,
  patterns: 0.31,
  sharpChroma: -0.29,
  edges: -1.05,
  pixels: -0.096,
} as const;
/** Difference within a block, in levels, that counts as an edge. */
const edgeRange = 60;

/**
 * Limits for a quarter of the blocks, below which the image is certainly a photograph: four
 * standard deviations away from `limits`.
 */
const clear = { blocks: 512, flat: 0.3, sharp: 0.005, patterns: 0.5 } as const;

/** Classifies an image by a sample of its blocks, and a photograph also by a sample of its rows. */
export function classifyPixels(image: RawImage): PixelTraits {
  const { data, width, height, channels } = image;
  const columns = Math.max(1, width >> 1);
  const total = columns * Math.max(1, height >> 1);
  const step = Math.ceil(total / maxBlocks);
  const colours = new Set<number>();
  const greys = new Set<number>();
  const patterns = new Set<number>();
  const offsets = channelOffsets(image);
  let blocks = 0;
  let flat = 0;
  let sharp = 0;
  let textured = 0;
  let edges = 0;
  const areMany = () =>
    channels < 3 ? greys.size > limits.anyGreys : colours.size > limits.anyColours;
  const isClear = () =>
    blocks >= clear.blocks &&
    flat < clear.flat * blocks &&
    sharp < clear.sharp * blocks &&
    patterns.size > clear.patterns * blocks &&
    areMany();
  const quarter = Math.ceil(total / step / 4);
  for (let turn = 0; turn < 4 * quarter; turn += 1) {
    // Each quarter of the turns covers the whole image.
    const index = ((turn % quarter) * 4 + Math.floor(turn / quarter)) * step;
    if (index >= total) continue;
    if (turn === quarter && isClear()) return photograph(crossesText(image));
    // Alternates even and odd positions, because a pattern can have edges only at even positions.
    const x = (index % columns) * 2 + (blocks & 1);
    const y = Math.floor(index / columns) * 2 + ((blocks >> 1) & 1);
    readBlock(image, offsets, x, y);
    const { range, contrast, chroma, pattern } = block;
    blocks += 1;
    if (contrast > 0) patterns.add(pattern);
    if (contrast > flatRange) textured += 1;
    if (contrast > edgeRange) edges += 1;
    if (range <= flatRange) flat += 1;
    if (chroma > sharpRange) sharp += 1;
    if (colours.size <= limits.flatColours) {
      const at = (Math.min(y, height - 1) * width + Math.min(x, width - 1)) * channels;
      // Counts grey pixels with their neighbours: in photographs such combinations outnumber greys.
      colours.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
      if (channels < 3) greys.add(data[at] ?? 0);
    }
  }
  const isFlat = flat / blocks >= limits.flat;
  const few = channels < 3 ? greys.size <= limits.anyGreys : areFew(colours);
  const sharpShare = isFlat ? limits.flatSharp : limits.anySharp;
  const isSharp = sharp / blocks >= sharpShare;
  const sharpChroma = isSharp || (!isFlat && crossesText(image));
  const isDrawn = isFlat
    ? colours.size <= limits.flatColours
    : few || patterns.size <= limits.repeated * blocks;
  if (!isDrawn) return { ...photograph(sharpChroma), flat: isFlat };
  // The added numbers keep shares of few blocks from extremes.
  const logBytes =
    estimate.constant +
    estimate.colours * Math.log(colours.size) +
    estimate.patterns * Math.log((patterns.size + 8) / (textured + 8)) +
    estimate.sharpChroma * Number(isSharp) +
    estimate.edges * ((edges + 4) / (textured + 8)) +
    estimate.pixels * Math.log(width * height);
  return { sharpChroma, flat: isFlat, losslessBytes: Math.exp(logBytes) };
}

const photograph = (sharpChroma: boolean): PixelTraits => ({
  sharpChroma,
  flat: false,
  losslessBytes: Number.POSITIVE_INFINITY,
});

/**
 * Letters are the only things in nearly all photographs that cross a row as many strokes of one
 * colour, near each other and as wide as the gaps allow. `bench/text.ts` shows on how many
 * photographs text of 12 to 48 px is found, and on how many without text something else.
 */
const strokes = {
  /** Change of red or blue against green from one pixel to the next that is an edge. */
  edge: 70,
  maxWidth: 14,
  count: 9,
  /** Minimum edges among every sixth pixel of a row. */
  coarse: 4,
  maxSpan: 220,
  /** Minimum share of the span. */
  ink: 0.4,
} as const;

/** Every fourth row crosses the smallest letters. Large images have larger ones. */
const rowStep = 4;
const maxRowPixels = 160_000;

/** Returns whether a row of an opaque image crosses coloured text. */
function crossesText({ data, width, height, channels }: RawImage): boolean {
  if (channels !== 3) return false;
  const step = Math.max(rowStep, Math.ceil((width * height) / maxRowPixels));
  const rises = new Strokes();
  const dips = new Strokes();
  for (let y = step >> 1; y < height; y += step) {
    if (!isLively(data, y * width * 3, (y + 1) * width * 3)) continue;
    const row = data.subarray(y * width * 3, (y + 1) * width * 3);
    for (const colour of [0, 2]) {
      rises.clear();
      dips.clear();
      if (findLetters(row, colour, rises, dips)) return true;
    }
  }
  return false;
}

/** Returns whether every sixth pixel of a row differs enough for letters, which few rows do. */
function isLively(data: Uint8Array, from: number, to: number): boolean {
  let changes = 0;
  let red = 0;
  let blue = 0;
  for (let at = from; at < to; at += 18) {
    const green = data[at + 1] ?? 0;
    const redder = (data[at] ?? 0) - green;
    const bluer = (data[at + 2] ?? 0) - green;
    if (Math.abs(redder - red) > strokes.edge || Math.abs(bluer - blue) > strokes.edge)
      changes += 1;
    red = redder;
    blue = bluer;
  }
  return changes >= strokes.coarse;
}

function findLetters(row: Uint8Array, colour: number, rises: Strokes, dips: Strokes): boolean {
  let previous = 0;
  /** The pixel of the last edge, negative if it was a fall. */
  let edge = 0;
  for (let x = 0, at = 0; at < row.length; x += 1, at += 3) {
    const value = (row[at + colour] ?? 0) - (row[at + 1] ?? 0);
    const change = value - previous;
    previous = value;
    if (change <= strokes.edge && change >= -strokes.edge) continue;
    const next = change > 0 ? x : -x;
    const ended = change > 0 ? dips : rises;
    if (next * edge < 0 && ended.add(x, x - Math.abs(edge))) return true;
    edge = next;
  }
  return false;
}

/** The last strokes of a row. */
class Strokes {
  readonly #ends = new Int32Array(strokes.count);
  readonly #widths = new Int32Array(strokes.count);
  #count = 0;
  #ink = 0;

  clear(): void {
    this.#count = 0;
    this.#ink = 0;
    this.#widths.fill(0);
  }

  /** Returns whether this stroke and the ones before it are those of letters. */
  add(end: number, width: number): boolean {
    if (width > strokes.maxWidth) return false;
    const slot = this.#count % strokes.count;
    this.#ink += width - (this.#widths[slot] ?? 0);
    this.#ends[slot] = end;
    this.#widths[slot] = width;
    this.#count += 1;
    if (this.#count < strokes.count) return false;
    const oldest = this.#count % strokes.count;
    const span = end - (this.#ends[oldest] ?? 0) + (this.#widths[oldest] ?? 0);
    return span <= strokes.maxSpan && this.#ink >= strokes.ink * span;
  }
}

/** @param colours as 0xrrggbb */
function areFew(colours: ReadonlySet<number>): boolean {
  const hasColour = [...colours].some((colour) => colour >> 16 !== (colour & 255));
  return colours.size <= (hasColour ? limits.anyColours : limits.anyGreys);
}

/**
 * Reads the largest differences between a block's visible pixels: in any colour (`range`),
 * including transparency (`contrast`), and in chroma; and a hash of the pixels. Chroma differs by
 * at most twice as much as a channel, so it reports 0 for differences below half of `sharpRange`.
 */
function readBlock(
  image: RawImage,
  { green, blue, alpha }: ReturnType<typeof channelOffsets>,
  x: number,
  y: number,
) {
  const { data, width, height, channels } = image;
  const right = x + 1 < width ? channels : 0;
  const below = y + 1 < height ? width * channels : 0;
  const first = (Math.min(y, height - 1) * width + Math.min(x, width - 1)) * channels;
  let lowRed = 255;
  let lowGreen = 255;
  let lowBlue = 255;
  let highRed = 0;
  let highGreen = 0;
  let highBlue = 0;
  let pattern = 0;
  let opacity = 0;
  let lowAlpha = 255;
  for (let corner = 0; corner < 4; corner += 1) {
    const at = first + (corner & 1 ? right : 0) + (corner & 2 ? below : 0);
    const a = alpha === null ? 255 : (data[at + alpha] ?? 0);
    pattern = Math.imul(pattern ^ a, hashFactor);
    if (a < lowAlpha) lowAlpha = a;
    if (a === 0) continue;
    if (a > opacity) opacity = a;
    const r = data[at] ?? 0;
    const g = data[at + green] ?? 0;
    const b = data[at + blue] ?? 0;
    pattern = Math.imul(pattern ^ ((r << 16) | (g << 8) | b), hashFactor);
    if (r < lowRed) lowRed = r;
    if (r > highRed) highRed = r;
    if (g < lowGreen) lowGreen = g;
    if (g > highGreen) highGreen = g;
    if (b < lowBlue) lowBlue = b;
    if (b > highBlue) highBlue = b;
  }
  const range = Math.max(highRed - lowRed, highGreen - lowGreen, highBlue - lowBlue);
  block.range = range;
  block.contrast = Math.max(range, opacity - lowAlpha);
  block.chroma = 0;
  block.pattern = pattern;
  if (range <= sharpRange / 2) return;
  let lowU = 255;
  let lowV = 255;
  let highU = -255;
  let highV = -255;
  for (let corner = 0; corner < 4; corner += 1) {
    const at = first + (corner & 1 ? right : 0) + (corner & 2 ? below : 0);
    if (alpha !== null && data[at + alpha] === 0) continue;
    const r = data[at] ?? 0;
    const b = data[at + blue] ?? 0;
    const luma = (2 * r + 5 * (data[at + green] ?? 0) + b) >> 3;
    if (b - luma < lowU) lowU = b - luma;
    if (b - luma > highU) highU = b - luma;
    if (r - luma < lowV) lowV = r - luma;
    if (r - luma > highV) highV = r - luma;
  }
  // Colours of nearly transparent pixels are rounded to a few levels, which is invisible.
  block.chroma = (Math.max(highU - lowU, highV - lowV) * opacity) / 255;
}

const block = { range: 0, contrast: 0, chroma: 0, pattern: 0 };

/** The multiplier of Knuth's multiplicative hash: 2 ** 32 divided by the golden ratio. */
const hashFactor = 0x9e3779b1;
