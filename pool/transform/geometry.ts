import type { Area, Edges, Fit } from './variant.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface BoxLimits extends Size {
  /** Width times height. */
  readonly pixels: number;
}

/** Of the picture itself, without its border. */
export interface Box extends Size {
  /** How the picture fills the box: `fill` where both have the same proportions or none are kept. */
  readonly fit: 'contain' | 'cover' | 'fill';
  /** The larger of the factors by which the picture's sides are scaled. */
  readonly scale: number;
  readonly border: Edges;
}

/** The box that is asked for; either side may be left open. */
export interface Asked {
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: Fit;
  /** Added around the box; it shrinks with the box where that meets a limit. */
  readonly border: Edges | null;
}

const noBorder: Edges = { top: 0, right: 0, bottom: 0, left: 0 };

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
  const around = asked.border ?? noBorder;
  const outer = withBorder(wanted, around);
  const shrink = Math.min(
    1,
    limits.width / outer.width,
    limits.height / outer.height,
    Math.sqrt(limits.pixels / (outer.width * outer.height)),
  );
  const { border, ...size } = round(scaled(wanted, shrink), around, shrink, limits);
  const across = size.width / natural.width;
  const down = size.height / natural.height;
  return {
    ...size,
    fit,
    scale: fit === 'contain' ? Math.min(across, down) : Math.max(across, down),
    border,
  };
}

export function withBorder(size: Size, { top, right, bottom, left }: Edges): Size {
  return { width: size.width + left + right, height: size.height + top + bottom };
}

/** The upright rectangle that a turned picture needs; angle in degrees. */
export function boundsOfTurned({ width, height }: Size, angle: number): Size {
  if (angle % 180 === 0) return { width, height };
  if (angle % 90 === 0) return { width: height, height: width };
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return { width: width * cos + height * sin, height: width * sin + height * cos };
}

/** The part of an area that lies within a picture; null when none does. */
export function cutArea({ left, top, width, height }: Area, within: Size): Area | null {
  const cut = {
    left,
    top,
    width: Math.min(width, within.width - left),
    height: Math.min(height, within.height - top),
  };
  return cut.width > 0 && cut.height > 0 ? cut : null;
}

/** In whole pixels, at least one a side. */
export function scaledSize({ width, height }: Size, factor: number): Size {
  const side = (length: number) => atLeastOne(Math.round(length * factor));
  return { width: side(width), height: side(height) };
}

/** An area of a picture in the pixels that it has once it is opened at another scale. */
export function shrunkArea(area: Area, scale: number, whole: Size): Area {
  if (scale === 1) return area;
  const place = (start: number, length: number, end: number) => {
    const last = Math.max(1, Math.floor(end * scale));
    const from = Math.min(last - 1, Math.round(start * scale));
    return [from, Math.min(last - from, Math.max(1, Math.round(length * scale)))] as const;
  };
  const [left, width] = place(area.left, area.width, whole.width);
  const [top, height] = place(area.top, area.height, whole.height);
  return { left, top, width, height };
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

/** Box and border to whole pixels, together within the limits. */
function round(exact: Size, border: Edges, shrink: number, limits: BoxLimits) {
  const nearest = rounded(exact, border, shrink, Math.round);
  return fits(nearest, limits) ? nearest : rounded(exact, border, shrink, Math.floor);
}

function rounded(exact: Size, edges: Edges, shrink: number, whole: (value: number) => number) {
  const border = {
    top: whole(edges.top * shrink),
    right: whole(edges.right * shrink),
    bottom: whole(edges.bottom * shrink),
    left: whole(edges.left * shrink),
  };
  const size = { width: whole(exact.width), height: whole(exact.height) };
  // The one pixel of a picture that was rounded to nothing is taken from its border.
  return {
    width: atLeastOne(size.width),
    height: atLeastOne(size.height),
    border: {
      ...border,
      ...(size.width < 1 ? withoutOne(border, 'left', 'right') : {}),
      ...(size.height < 1 ? withoutOne(border, 'top', 'bottom') : {}),
    },
  };
}

function withoutOne(border: Edges, first: keyof Edges, second: keyof Edges): Partial<Edges> {
  const larger = border[first] > border[second] ? first : second;
  return { [larger]: Math.max(0, border[larger] - 1) };
}

function fits(box: Size & { readonly border: Edges }, limits: BoxLimits): boolean {
  const { width, height } = withBorder(box, box.border);
  return (
    width <= atLeastOne(limits.width) &&
    height <= atLeastOne(limits.height) &&
    width * height <= limits.pixels
  );
}

function atLeastOne(side: number): number {
  return Math.max(1, side);
}
