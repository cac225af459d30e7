import { maxFramePixels } from '../../bounds.ts';
import { type Size, scaleWithin } from '../../geometry.ts';
import type { SvgCost } from './filter-cost.ts';

/** Maximum bytes of all surfaces of one SVG, at 4 bytes per pixel. */
const maxSurfaceBytes = 512 * 1024 * 1024;

/** Maximum pixels per side of an SVG in sharp. */
const maxRasterSide = 32_767;

/** Maximum CPU time for the filters of one SVG, in ms. */
const maxFilterMs = 10_000;

/** SVGs whose cost permits fewer pixels are refused. Most outputs are larger. */
export const minSvgPixels = 500_000;

/** Pixels per side of the tiles that libvips rasterises; librsvg runs all filters for each tile. */
const tileSide = 2000;

/** Maximum pixels to which an SVG may be rasterised. */
export function svgPixels(size: Size, cost: SvgCost | null, sourceMaxPixels: number) {
  const { surfaces, work } = cost ?? { surfaces: 0, work: 0 };
  const most = Math.min(maxFramePixels, sourceMaxPixels, maxSurfaceBytes / 4 / (surfaces + 1));
  return work === 0 ? most : affordablePixels(size, most, (1e6 * maxFilterMs) / work);
}

/** @param budget pixels that the filters may process, summed over all tiles */
function affordablePixels(size: Size, most: number, budget: number): number {
  let pixels = Math.min(most, budget);
  while (pixels * tilesAt(size, pixels) > budget) pixels *= 0.95;
  return pixels;
}

function tilesAt({ width, height }: Size, pixels: number): number {
  const scale = Math.sqrt(pixels / (width * height));
  return Math.ceil((width * scale) / tileSide) * Math.ceil((height * scale) / tileSide);
}

/** The possible scales, in pixels for each CSS pixel; may be empty. No side has less than a pixel. */
export function svgScales(size: Size, pixels: number) {
  return {
    smallest: 1 / Math.min(size.width, size.height),
    largest: scaleWithin(size, maxRasterSide, pixels),
  };
}

/** The possible scale nearest to the wanted one. */
export function svgScale(wanted: number, size: Size, pixels: number): number {
  const { smallest, largest } = svgScales(size, pixels);
  return Math.min(Math.max(wanted, smallest), largest);
}
