import { maxSide } from './bounds.ts';
import { requestedOperations } from './rendering/operations.ts';
import type { SourceArea } from './rendering/pixel-effects.ts';
import type { Area, Edges, FocalPoint, Position, Variant } from './variant.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface BoxLimits extends Size {
  /** Maximum of width times height. */
  readonly pixels: number;
}

/** The resized image's size, without its border. */
export interface Box extends Size {
  /** `fill` when the aspect ratios are equal, or ignored. */
  readonly fit: 'cover' | 'fill';
  /** The image's scale; the larger scale if the sides differ. */
  readonly scale: number;
  /** Whether the image can be larger than `cover` makes it; see `windowAround`. */
  readonly isZoomed: boolean;
  /** What `contain` and `extend` add around the image. */
  readonly border: Edges;
}

/** The box, and the border to add around it, which limits scale down with the box. */
type RequestedBox = Pick<
  Variant,
  | 'width'
  | 'height'
  | 'minWidth'
  | 'minHeight'
  | 'zoom'
  | 'aspectRatio'
  | 'fit'
  | 'position'
  | 'extend'
  | 'enlarge'
  | 'pixelRatio'
>;

const noBorder: Edges = { top: 0, right: 0, bottom: 0, left: 0 };

/**
 * Returns the output's size. Rounds sides only at the end: to the nearest pixel, halves up, at
 * least 1, or down if the pixel limit would be exceeded. Keeps a requested side within the limits
 * exactly.
 *
 * @param natural the upright image's size
 * @param enlargement the image's maximum scale; a box that needs more shrinks and keeps its
 *   aspect ratio, unless `enlarge` is `box`
 */
export function fitBox(
  natural: Size,
  requested: RequestedBox,
  enlargement: number,
  limits: BoxLimits,
): Box {
  const box = unlimitedBox(natural, requested, enlargement);
  const { fit, isKept, pixels, zoomed, ...unlimited } = raisedBox(natural, requested, box, limits);
  const fullBorder = requested.extend ?? noBorder;
  const outer = withBorder(unlimited, scaledEdges(fullBorder, pixels));
  const shrink = Math.min(
    1,
    limits.width / outer.width,
    limits.height / outer.height,
    Math.sqrt(limits.pixels / (outer.width * outer.height)),
  );
  const { border, ...size } = round(scaled(unlimited, shrink), fullBorder, shrink * pixels, limits);
  const across = size.width / natural.width;
  const down = size.height / natural.height;
  if (fit === 'contain') {
    const scale = Math.min(across, down, isKept ? enlargement : Number.POSITIVE_INFINITY);
    const inner = within(scaledSize(natural, scale), size);
    const bars = barsAround(inner, size, toPoint(requested.position));
    return { ...inner, fit: 'fill', scale, isZoomed: false, border: addEdges(border, bars) };
  }
  const scale = Math.max(across, down, (zoomed ?? 0) * shrink);
  return { ...size, fit, scale, isZoomed: zoomed !== null, border };
}

const within = (size: Size, limits: Size): Size => ({
  width: Math.min(size.width, limits.width),
  height: Math.min(size.height, limits.height),
});

/** Returns what is beside an image at a point of a box. */
function barsAround(inner: Size, box: Size, { x, y }: FocalPoint): Edges {
  const [across, down] = [box.width - inner.width, box.height - inner.height];
  const [left, top] = [Math.floor(across * x), Math.floor(down * y)];
  return { top, right: across - left, bottom: down - top, left };
}

const addEdges = (a: Edges, b: Edges): Edges => ({
  top: a.top + b.top,
  right: a.right + b.right,
  bottom: a.bottom + b.bottom,
  left: a.left + b.left,
});

/** Returns the point that a position keeps; of a strategy or a focal point with padding, the middle. */
export const toPoint = (position: Position | FocalPoint): FocalPoint =>
  typeof position === 'object'
    ? { x: 0.5, y: 0.5 }
    : {
        x: /west$/.test(position) ? 0 : /east$/.test(position) ? 1 : 0.5,
        y: /^north/.test(position) ? 0 : /^south/.test(position) ? 1 : 0.5,
      };

/**
 * Converts the areas and sides that a variant states as shares of the source's sides to pixels.
 * @param whole the upright source
 */
export function withPixels(variant: Variant, whole: Size): Variant {
  const { crop, widthShare, heightShare, aspectRatio } = variant;
  const hidden = requestedOperations(variant, 'areas').map(({ name, value }) => [
    name,
    (value as readonly SourceArea[]).map((area) => areaInPixels(area, whole)),
  ]);
  const areas = { ...Object.fromEntries(hidden), crop: crop && areaInPixels(crop, whole) };
  if (widthShare === null && heightShare === null) return { ...variant, ...areas };
  const side = (share: number | null, length: number) =>
    share === null ? null : atLeastOne(Math.round(share * length));
  const width = side(widthShare, whole.width) ?? variant.width;
  const height = side(heightShare, whole.height) ?? variant.height;
  const sides = withMissingSide(width, height, aspectRatio);
  return { ...variant, ...areas, ...sides, widthShare: null, heightShare: null };
}

function areaInPixels(area: SourceArea, whole: Size): Area {
  if (area.unit !== 'share') return area;
  const convert = (start: number, length: number, side: number) => {
    const from = Math.round(start * side);
    return [from, atLeastOne(Math.round((start + length) * side) - from)] as const;
  };
  const [left, width] = convert(area.left, area.width, whole.width);
  const [top, height] = convert(area.top, area.height, whole.height);
  return { left, top, width, height };
}

/** Returns a box's sides in whole pixels, deriving a missing side from the ratio. */
export function withMissingSide(width: number | null, height: number | null, ratio: number | null) {
  const side = (length: number) => atLeastOne(Math.round(length));
  if (ratio === null) return { width, height };
  return {
    width: width ?? (height === null ? null : side(height * ratio)),
    height: height ?? (width === null ? null : side(width / ratio)),
  };
}

export function withBorder(size: Size, { top, right, bottom, left }: Edges): Size {
  return { width: size.width + left + right, height: size.height + top + bottom };
}

/** Returns a rotated image's bounding box; angle in degrees. */
export function boundsOfRotated({ width, height }: Size, angle: number): Size {
  if (angle % 180 === 0) return { width, height };
  if (angle % 90 === 0) return { width: height, height: width };
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return { width: width * cos + height * sin, height: width * sin + height * cos };
}

/** Returns the part of an area inside an image; null if the area is outside. */
export function clipArea({ left, top, width, height }: Area, within: Size): Area | null {
  const clipped = {
    left,
    top,
    width: Math.min(width, within.width - left),
    height: Math.min(height, within.height - top),
  };
  return clipped.width > 0 && clipped.height > 0 ? clipped : null;
}

/** Returns a size in whole pixels, at least 1 per side. */
export function scaledSize({ width, height }: Size, factor: number): Size {
  const side = (length: number) => atLeastOne(Math.round(length * factor));
  return { width: side(width), height: side(height) };
}

/** Converts an area of an image to the pixels of the same image opened at another scale. */
export function scaledArea(area: Area, scale: number, whole: Size): Area {
  const convert = (start: number, length: number, end: number) => {
    const last = Math.max(1, Math.floor(end * scale));
    const from = Math.min(last - 1, Math.round(start * scale));
    return [from, Math.min(last - from, Math.max(1, Math.round(length * scale)))] as const;
  };
  const [left, width] = convert(area.left, area.width, whole.width);
  const [top, height] = convert(area.top, area.height, whole.height);
  return { left, top, width, height };
}

/**
 * Returns the size to which `cover` scales an image, and its part around the point that fills the
 * box.
 */
export function windowAround(
  point: FocalPoint,
  natural: Size,
  box: Box,
): { size: Size; window: Area } {
  const scaled = scaledSize(natural, box.scale);
  const size = {
    width: Math.max(box.width, scaled.width),
    height: Math.max(box.height, scaled.height),
  };
  const start = (at: number, length: number, kept: number) =>
    Math.min(length - kept, Math.max(0, Math.round(at * length - kept / 2)));
  const left = start(point.x, size.width, box.width);
  const top = start(point.y, size.height, box.height);
  return { size, window: { left, top, width: box.width, height: box.height } };
}

interface UnlimitedBox extends Size {
  readonly fit: Box['fit'] | 'contain';
  /**
   * Whether `contain` pads an image smaller than the box in both directions, instead of scaling it
   * up.
   */
  readonly isKept: boolean;
  /** The share of the requested device pixels that the box and its border have. */
  readonly pixels: number;
  /** The image's scale if it can be larger than the box needs, else null. */
  readonly zoomed: number | null;
}

/**
 * Enlarges a box until the image has its minimum sides, as imgproxy does: even beyond its own
 * pixels, but the requested sides still cut it.
 */
function raisedBox(
  natural: Size,
  { fit, width, height, minWidth, minHeight }: RequestedBox,
  box: UnlimitedBox,
  { pixels }: BoxLimits,
): UnlimitedBox {
  if (fit === 'fill' || (minWidth === null && minHeight === null)) return box;
  const across = (minWidth ?? 0) / natural.width;
  const down = (minHeight ?? 0) / natural.height;
  const largest = Math.max(1, scaleWithin(natural, maxSide, pixels));
  const scale = Math.min(largest, Math.max(across, down));
  const fitted = [box.width / natural.width, box.height / natural.height];
  const isContained = box.fit === 'contain';
  if (scale <= (box.zoomed ?? (isContained ? Math.min(...fitted) : Math.max(...fitted))))
    return box;
  const whole = scaled(natural, scale);
  const size = {
    width: Math.min(whole.width, width ?? whole.width),
    height: Math.min(whole.height, height ?? whole.height),
  };
  return { ...size, fit: 'cover', isKept: false, pixels: 1, zoomed: scale };
}

function unlimitedBox(natural: Size, requested: RequestedBox, enlargement: number): UnlimitedBox {
  const { fit } = requested;
  if (requested.zoom !== 1 && fit === 'cover') return zoomedBox(natural, requested, enlargement);
  const { width, height } = withRatio(natural, requested);
  const scale = requestedScale(natural, width, height, fit);
  const isTooLarge = scale > enlargement;
  if (isTooLarge && requested.enlarge === 'box') {
    const pixels = Math.max(enlargement / scale, Math.min(1, 1 / requested.pixelRatio));
    const sides = { width: width && width * pixels, height: height && height * pixels };
    return { ...keptBox(natural, sides, fit, enlargement), pixels, zoomed: null };
  }
  const isCut = width !== null && height !== null && fit !== 'inside' && fit !== 'outside';
  const kept = { isKept: false, pixels: 1, zoomed: null };
  if (!isCut) return { ...scaled(natural, Math.min(scale, enlargement)), fit: 'fill', ...kept };
  return { ...scaled({ width, height }, Math.min(1, enlargement / scale)), fit, ...kept };
}

/**
 * Returns the box with a part of the image that is larger or smaller than `cover` keeps. Where the
 * image ends, the box does too.
 */
function zoomedBox(natural: Size, requested: RequestedBox, enlargement: number): UnlimitedBox {
  const { width, height } = withRatio(natural, requested);
  const covered = requestedScale(natural, width, height, 'cover');
  const wanted = covered * requested.zoom;
  const shrink = Math.min(1, enlargement / wanted);
  const side = (requested: number | null, whole: number) =>
    Math.min(requested ?? whole * covered, whole * wanted) * shrink;
  return {
    width: side(width, natural.width),
    height: side(height, natural.height),
    fit: 'cover',
    isKept: false,
    pixels: 1,
    zoomed: wanted * shrink,
  };
}

/** Returns the scale at which the image fills the requested sides. */
function requestedScale(
  natural: Size,
  width: number | null,
  height: number | null,
  fit: RequestedBox['fit'],
): number {
  if (width === null || height === null) return oneSideFactor(natural, width, height);
  const scales = [width / natural.width, height / natural.height];
  return fit === 'contain' || fit === 'inside' ? Math.min(...scales) : Math.max(...scales);
}

/**
 * Returns a box that would need a larger scale than possible: `contain` keeps its sides, and other
 * fits limit them to the image's sides.
 */
function keptBox(
  natural: Size,
  { width, height }: { readonly width: number | null; readonly height: number | null },
  fit: RequestedBox['fit'],
  enlargement: number,
): Omit<UnlimitedBox, 'pixels' | 'zoomed'> {
  const largest = scaled(natural, enlargement);
  if (fit === 'contain') {
    const box = { width: width ?? largest.width, height: height ?? largest.height };
    return { ...box, fit, isKept: true };
  }
  if (width === null || height === null || fit === 'inside' || fit === 'outside') {
    return { ...largest, fit: 'fill', isKept: false };
  }
  const box = {
    width: Math.min(width, largest.width),
    height: Math.min(height, largest.height),
  };
  return { ...box, fit, isKept: false };
}

/**
 * With a ratio and no side, returns the smallest box around the image, or the largest box inside
 * it.
 */
function withRatio(natural: Size, { width, height, aspectRatio, fit }: RequestedBox) {
  if (aspectRatio === null || width !== null || height !== null) return { width, height };
  const across = natural.height * aspectRatio;
  const down = natural.width / aspectRatio;
  const isAround = fit === 'contain' || fit === 'inside';
  return across > natural.width === isAround
    ? { width: across, height: natural.height }
    : { width: natural.width, height: down };
}

function oneSideFactor(natural: Size, width: number | null, height: number | null): number {
  if (width !== null) return width / natural.width;
  if (height !== null) return height / natural.height;
  return 1;
}

function scaled(size: Size, factor: number): Size {
  return { width: size.width * factor, height: size.height * factor };
}

function scaledEdges({ top, right, bottom, left }: Edges, factor: number): Edges {
  return {
    top: top * factor,
    right: right * factor,
    bottom: bottom * factor,
    left: left * factor,
  };
}

/** Rounds box and border to whole pixels within the limits. */
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
  // A side rounded to 0 becomes 1 pixel, taken from the border.
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

/**
 * Returns the largest scale that keeps an image within `side` pixels per side and `pixels` in
 * total.
 */
export function scaleWithin({ width, height }: Size, side: number, pixels: number): number {
  return Math.min(side / width, side / height, Math.sqrt(pixels / (width * height)));
}
