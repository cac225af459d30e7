/** The sides of an image in pixels. */
export interface Sides {
  readonly width: number;
  readonly height: number;
}

/** A part of a source, in pixels of the upright source. */
export interface Area extends Sides {
  readonly left: number;
  readonly top: number;
}

/** A point as fractions of the width and the height. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

type Ends = 'start' | 'end' | 'both';

/** A handle of an area: the ends that it moves in each direction. */
export interface Grip {
  readonly name: string;
  readonly x: Ends;
  readonly y: Ends;
}

export const grips: readonly Grip[] = [
  { name: 'Crop', x: 'both', y: 'both' },
  { name: 'Top left corner', x: 'start', y: 'start' },
  { name: 'Top right corner', x: 'end', y: 'start' },
  { name: 'Bottom left corner', x: 'start', y: 'end' },
  { name: 'Bottom right corner', x: 'end', y: 'end' },
];

const clamp = (value: number, min: number, max: number): number =>
  Math.min(Math.max(value, min), max);

/** Returns the pixels of a value, whose numbers are shares of the source if one is not whole. */
function toPixels(text: string, { width, height }: Sides): readonly number[] {
  // The SDK separates them by underscores.
  const numbers = text.split(/[,_]/).map(Number);
  if (numbers.every(Number.isInteger)) return numbers;
  return numbers.map((share, index) => Math.round(share * (index % 2 === 0 ? width : height)));
}

/** Reads a `crop` value: the area within the source, or the whole source for any other text. */
export function readArea(text: string, source: Sides): Area {
  const { width, height } = source;
  const whole = { left: 0, top: 0, width, height };
  if (!/^[\d.]+(?:[,_][\d.]+){3}$/.test(text)) return whole;
  const [left = 0, top = 0, wide = 0, high = 0] = toPixels(text, source);
  if (left >= width || top >= height || wide === 0 || high === 0) return whole;
  return { left, top, width: Math.min(wide, width - left), height: Math.min(high, height - top) };
}

/** Returns whether a `crop` value is partly or wholly outside the source. */
export function isBeyondSource(text: string, source: Sides): boolean {
  const [left = 0, top = 0, width = 0, height = 0] = toPixels(text, source);
  return left + width > source.width || top + height > source.height;
}

/** Writes a `crop` value, or '' for the whole source. */
export function areaText({ left, top, ...sides }: Area, source: Sides): string {
  const isWhole = sides.width === source.width && sides.height === source.height;
  return isWhole ? '' : [left, top, sides.width, sides.height].join();
}

/**
 * Moves ends of a length within `[0, whole]`, in whole pixels, at least 1 px, so that the shortest
 * step moves too.
 */
function moveEnds(ends: Ends, start: number, length: number, fraction: number, whole: number) {
  const by = Math.round(fraction * whole) || Math.sign(fraction);
  if (ends === 'both') return [clamp(start + by, 0, whole - length), length] as const;
  if (ends === 'end') return [start, clamp(length + by, 1, whole - start)] as const;
  const moved = clamp(start + by, 0, start + length - 1);
  return [moved, start + length - moved] as const;
}

/** Moves a part of an area within its source. @param dx fraction of the source's width, as `dy` of its height */
export function moveArea(area: Area, { x, y }: Grip, dx: number, dy: number, source: Sides): Area {
  const [left, width] = moveEnds(x, area.left, area.width, dx, source.width);
  const [top, height] = moveEnds(y, area.top, area.height, dy, source.height);
  return { left, top, width, height };
}

/** Returns the area between two points within a source, at least 1 px, like {@link moveArea}. */
export function drawArea({ x, y }: Point, dx: number, dy: number, source: Sides): Area {
  const [left, width] = drawEnds(x, x + dx, source.width);
  const [top, height] = drawEnds(y, y + dy, source.height);
  return { left, top, width, height };
}

function drawEnds(from: number, to: number, whole: number) {
  const ends = [from, to].map((fraction) => clamp(Math.round(fraction * whole), 0, whole));
  const start = Math.min(...ends, whole - 1);
  return [start, Math.max(1, Math.max(...ends) - start)] as const;
}

const precision = 1_000;

/** Reads an `fp` value, or returns the centre for any other text. */
export function readPoint(text: string): Point {
  const [x = 0, y = 0] = text.split(/[,_]/).map(Number);
  const isPoint = /^[\d.]+[,_][\d.]+$/.test(text) && x <= 1 && y <= 1;
  return isPoint ? { x, y } : { x: 0.5, y: 0.5 };
}

/** Writes an `fp` value. */
export const pointText = ({ x, y }: Point): string =>
  [x, y].map((coordinate) => Math.round(coordinate * precision) / precision).join();

export const movePoint = ({ x, y }: Point, dx: number, dy: number): Point => ({
  x: clamp(x + dx, 0, 1),
  y: clamp(y + dy, 0, 1),
});
