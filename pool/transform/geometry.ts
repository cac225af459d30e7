import type { Fit } from './variant.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface BoxLimits extends Size {
  /** Width times height. */
  readonly pixels: number;
}

export interface Box extends Size {
  /** How the picture fills the box: `fill` where both have the same proportions or none are kept. */
  readonly fit: 'contain' | 'cover' | 'fill';
  /** The larger of the factors by which the picture's sides are scaled. */
  readonly scale: number;
}

/** The box that is asked for; either side may be left open. */
export interface Asked {
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: Fit;
}

/**
 * The size of the output. Sides are exact numbers until the end, where they are rounded to the
 * nearest pixel, halves up, and to at least 1; rounding down instead where the limit of pixels
 * would be passed. An asked side that nothing limits comes out exactly.
 *
 * @param natural the upright picture
 * @param enlargement the largest factor by which the picture may be scaled; where the asked box
 *   needs more, the box shrinks and keeps its proportions
 */
export function fitBox(natural: Size, asked: Asked, enlargement: number, limits: BoxLimits): Box {
  const { fit, ...wanted } = wantedBox(natural, asked, enlargement);
  const shrink = Math.min(
    1,
    limits.width / wanted.width,
    limits.height / wanted.height,
    Math.sqrt(limits.pixels / (wanted.width * wanted.height)),
  );
  const size = round(scaled(wanted, shrink), limits.pixels);
  const across = size.width / natural.width;
  const down = size.height / natural.height;
  return {
    ...size,
    fit,
    scale: fit === 'contain' ? Math.min(across, down) : Math.max(across, down),
  };
}

function wantedBox(natural: Size, asked: Asked, enlargement: number): Size & Pick<Box, 'fit'> {
  const { width, height, fit } = asked;
  if (width === null || height === null) {
    const factor = oneSideFactor(natural, width, height);
    return { ...scaled(natural, Math.min(factor, enlargement)), fit: 'fill' };
  }
  const across = width / natural.width;
  const down = height / natural.height;
  const smaller = Math.min(across, down);
  const larger = Math.max(across, down);
  switch (fit) {
    case 'inside':
      return { ...scaled(natural, Math.min(smaller, enlargement)), fit: 'fill' };
    case 'outside':
      return { ...scaled(natural, Math.min(larger, enlargement)), fit: 'fill' };
    case 'contain':
      return { ...scaled({ width, height }, Math.min(1, enlargement / smaller)), fit };
    case 'cover':
    case 'fill':
      return { ...scaled({ width, height }, Math.min(1, enlargement / larger)), fit };
  }
}

function oneSideFactor(natural: Size, width: number | null, height: number | null): number {
  if (width !== null) return width / natural.width;
  if (height !== null) return height / natural.height;
  return 1;
}

function scaled(size: Size, factor: number): Size {
  return { width: size.width * factor, height: size.height * factor };
}

function round(size: Size, maxPixels: number): Size {
  const nearest = {
    width: atLeastOne(Math.round(size.width)),
    height: atLeastOne(Math.round(size.height)),
  };
  if (nearest.width * nearest.height <= maxPixels) return nearest;
  return { width: atLeastOne(Math.floor(size.width)), height: atLeastOne(Math.floor(size.height)) };
}

function atLeastOne(side: number): number {
  return Math.max(1, side);
}
