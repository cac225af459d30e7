import type { Size } from './geometry.ts';
import type { SvgCost } from './svg/read.ts';

/** Bounds of an output: pixels a side, and pixels of a frame. */
export const maxSide = 10_000;
export const maxFramePixels = 40_000_000;

/** Rows of all frames together: libvips stacks them in one picture, and this is its highest. */
export const maxRows = 10_000_000;

/** Bytes that the surfaces of one SVG may take together, at 4 a pixel. */
const svgBytes = 512 * 1024 * 1024;

/** librsvg's unit: at this density a CSS pixel is one pixel. */
const cssDensity = 72;

/** The range of densities that sharp takes. */
const densities = { lowest: 1, highest: 100_000 };

/** Pixels a side that sharp takes of an SVG. */
const maxRasterSide = 32_767;

/** ms of one core that the filters of one SVG may take. */
const svgMs = 10_000;

/** Fewer than most SVGs are asked in; one that could only be made smaller is refused. */
export const minSvgPixels = 500_000;

/** libvips draws in parts of so many pixels a side, and librsvg does all filters for each of them. */
const partSide = 2000;

/** Pixels that an SVG may be rasterised to. */
export function svgPixels(size: Size, cost: SvgCost | null, sourceMaxPixels: number) {
  const { surfaces, work } = cost ?? { surfaces: 0, work: 0 };
  const most = Math.min(maxFramePixels, sourceMaxPixels, svgBytes / 4 / (surfaces + 1));
  return work === 0 ? most : timelyPixels(size, most, (1e6 * svgMs) / work);
}

/** @param affordable pixels, each as often as it is drawn */
function timelyPixels(size: Size, most: number, affordable: number): number {
  let pixels = Math.min(most, affordable);
  while (pixels * partsAt(size, pixels) > affordable) pixels *= 0.95;
  return pixels;
}

function partsAt({ width, height }: Size, pixels: number): number {
  const scale = Math.sqrt(pixels / (width * height));
  return Math.ceil((width * scale) / partSide) * Math.ceil((height * scale) / partSide);
}

/** The scales at which an SVG can be rasterised; there may be none. */
export function svgScales(size: Size, pixels: number) {
  const thin = 1 / Math.min(size.width, size.height);
  return {
    smallest: Math.max(densities.lowest / cssDensity, thin),
    largest: Math.min(densities.highest / cssDensity, scaleWithin(size, maxRasterSide, pixels)),
  };
}

/** Dots per inch at which an SVG is rasterised at a scale, as near as can be. */
export function densityAt(scale: number, size: Size, pixels: number): number {
  const { smallest, largest } = svgScales(size, pixels);
  return cssDensity * Math.min(Math.max(scale, smallest), largest);
}

/** The scale at which an SVG is rasterised at so many dots per inch. */
export function scaleAt(density: number): number {
  return density / cssDensity;
}

/** The largest factor at which a picture has at most so many pixels a side and in all. */
export function scaleWithin({ width, height }: Size, side: number, pixels: number): number {
  return Math.min(side / width, side / height, Math.sqrt(pixels / (width * height)));
}
