import { channelOffsets, type RawImage } from './indexed-png.ts';

/** Properties of an image's pixels that the choice of an encoder depends on. */
export interface PixelTraits {
  /** True when half the resolution of chroma (4:2:0) would visibly blur saturated edges. */
  readonly sharpChroma: boolean;
  /** True when most of the image has no texture. */
  readonly flat: boolean;
  /**
   * True for flat images with some colours, such as logos and text, and for all images with few, such as
   * patterns and dithered ones. They may be smaller with lossless encoding.
   */
  readonly drawn: boolean;
}

/** Maximum blocks of 2 x 2 pixels that are read: enough for shares of 0.2 %. */
const maxBlocks = 4_096;

/** In levels of 0..255. Flat areas of decoded JPEGs differ by a level or two. */
const flatRange = 2;
const sharpRange = 80;

/**
 * Shares of all blocks, and numbers of colours, counted from one pixel of each block. Of 96 photographs at 200,
 * 400, 800 and 1600 px none is drawn: flat ones have more than 1,300 colours. Logos and texts are flat in 0.51 to 0.98 and
 * have 4 to 910 colours. Of 56 other photographs 40 to 800 px wide none that is not flat has 64 colours, or
 * 16 levels as grey; dithered pictures of 4 colours and patterns are smaller without loss, photographs
 * dithered to 16 about as large. Sharp chroma is found in four of the photographs at 200 px, in two at 400 and
 * in none above: in all of them saturated colours alternate with white or grey from pixel to pixel.
 */
const limits = {
  flat: 0.5,
  flatColours: 512,
  anyColours: 64,
  anyGreys: 16,
  flatSharp: 0.004,
  anySharp: 0.03,
};

/**
 * Limits for a quarter of the blocks, below which the image is certainly a photograph: those of `limits` are four
 * standard deviations away.
 */
const clear = { blocks: 512, flat: 0.3, sharp: 0.005 } as const;

/** Classifies an image by a sample of its blocks. */
export function classifyPixels(image: RawImage): PixelTraits {
  const { data, width, height, channels } = image;
  const columns = Math.max(1, width >> 1);
  const total = columns * Math.max(1, height >> 1);
  const step = Math.ceil(total / maxBlocks);
  const colours = new Set<number>();
  const greys = new Set<number>();
  const offsets = channelOffsets(image);
  let blocks = 0;
  let flat = 0;
  let sharp = 0;
  const areMany = () =>
    channels < 3 ? greys.size > limits.anyGreys : colours.size > limits.anyColours;
  const isClear = () =>
    blocks >= clear.blocks &&
    flat < clear.flat * blocks &&
    sharp < clear.sharp * blocks &&
    areMany();
  const quarter = Math.ceil(total / step / 4);
  for (let turn = 0; turn < 4 * quarter; turn += 1) {
    // Each quarter of the turns is spread over the whole image.
    const index = ((turn % quarter) * 4 + Math.floor(turn / quarter)) * step;
    if (index >= total) continue;
    if (turn === quarter && isClear()) return { sharpChroma: false, flat: false, drawn: false };
    // At even and odd positions in turn, because a pattern may have edges only at even ones.
    const x = (index % columns) * 2 + (blocks & 1);
    const y = Math.floor(index / columns) * 2 + ((blocks >> 1) & 1);
    const { range, chroma } = ranges(image, offsets, x, y);
    blocks += 1;
    if (range <= flatRange) flat += 1;
    if (chroma > sharpRange) sharp += 1;
    if (colours.size <= limits.flatColours) {
      const at = (Math.min(y, height - 1) * width + Math.min(x, width - 1)) * channels;
      // Grey pixels count with their neighbours: photographs have more such combinations than greys.
      colours.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
      if (channels < 3) greys.add(data[at] ?? 0);
    }
  }
  const isFlat = flat / blocks >= limits.flat;
  const few = channels < 3 ? greys.size <= limits.anyGreys : areFew(colours);
  const sharpShare = isFlat ? limits.flatSharp : limits.anySharp;
  return {
    sharpChroma: sharp / blocks >= sharpShare,
    flat: isFlat,
    drawn: isFlat ? colours.size <= limits.flatColours : few,
  };
}

/** @param colours as 0xrrggbb */
function areFew(colours: ReadonlySet<number>): boolean {
  const hasColour = [...colours].some((colour) => colour >> 16 !== (colour & 255));
  return colours.size <= (hasColour ? limits.anyColours : limits.anyGreys);
}

/**
 * The largest differences within one block, of visible pixels, in any channel and in chroma. Chroma differs by
 * at most twice as much as a channel, so smaller differences than half of `sharpRange` are not looked at: 0.
 */
function ranges(
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
  for (let corner = 0; corner < 4; corner += 1) {
    const at = first + (corner & 1 ? right : 0) + (corner & 2 ? below : 0);
    if (alpha !== null && data[at + alpha] === 0) continue;
    const r = data[at] ?? 0;
    const g = data[at + green] ?? 0;
    const b = data[at + blue] ?? 0;
    if (r < lowRed) lowRed = r;
    if (r > highRed) highRed = r;
    if (g < lowGreen) lowGreen = g;
    if (g > highGreen) highGreen = g;
    if (b < lowBlue) lowBlue = b;
    if (b > highBlue) highBlue = b;
  }
  const range = Math.max(highRed - lowRed, highGreen - lowGreen, highBlue - lowBlue);
  if (range <= sharpRange / 2) return { range, chroma: 0 };
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
  return { range, chroma: Math.max(highU - lowU, highV - lowV) };
}
