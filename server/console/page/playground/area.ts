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

/** The sides of a rectangle that a corner moves, per direction. */
export interface Corner {
  readonly name: string;
  readonly x: 'left' | 'right';
  readonly y: 'top' | 'bottom';
}

export const corners: readonly Corner[] = [
  { name: 'Top left corner', x: 'left', y: 'top' },
  { name: 'Top right corner', x: 'right', y: 'top' },
  { name: 'Bottom left corner', x: 'left', y: 'bottom' },
  { name: 'Bottom right corner', x: 'right', y: 'bottom' },
];

const clamp = (value: number, min: number, max: number): number =>
  Math.min(Math.max(value, min), max);

/** Returns a movement in whole pixels, at least 1 px, so that the shortest step moves too. */
const pixels = (fraction: number, side: number): number =>
  Math.round(fraction * side) || Math.sign(fraction);

/** Returns a value's numbers, which the SDK separates by underscores. */
const parseNumbers = (text: string): readonly number[] => text.split(/[,_]/).map(Number);

/** Reads a `crop` value: the area within the source, or the whole source for any other text. */
export function readArea(text: string, { width, height }: Sides): Area {
  const whole = { left: 0, top: 0, width, height };
  if (!/^\d+(?:[,_]\d+){3}$/.test(text)) return whole;
  const [left = 0, top = 0, wide = 0, high = 0] = parseNumbers(text);
  if (left >= width || top >= height || wide === 0 || high === 0) return whole;
  return { left, top, width: Math.min(wide, width - left), height: Math.min(high, height - top) };
}

/** Writes a `crop` value, or '' for the whole source. */
export function areaText({ left, top, ...sides }: Area, source: Sides): string {
  const isWhole = sides.width === source.width && sides.height === source.height;
  return isWhole ? '' : [left, top, sides.width, sides.height].join();
}

/** Moves an area within its source. @param dx fraction of the source's width, as `dy` of its height */
export function moveArea(area: Area, dx: number, dy: number, source: Sides): Area {
  return {
    ...area,
    left: clamp(area.left + pixels(dx, source.width), 0, source.width - area.width),
    top: clamp(area.top + pixels(dy, source.height), 0, source.height - area.height),
  };
}

/** Moves one end of a length within `[0, whole]`; the other end stays. */
function resize(start: number, length: number, by: number, atStart: boolean, whole: number) {
  const end = start + length;
  if (!atStart) return [start, clamp(end + by, start + 1, whole) - start] as const;
  const moved = clamp(start + by, 0, end - 1);
  return [moved, end - moved] as const;
}

/** Moves a corner of an area within its source. @param dx fraction of the source's width, as `dy` of its height */
export function moveCorner(
  area: Area,
  corner: Corner,
  dx: number,
  dy: number,
  source: Sides,
): Area {
  const across = pixels(dx, source.width);
  const down = pixels(dy, source.height);
  const [left, width] = resize(area.left, area.width, across, corner.x === 'left', source.width);
  const [top, height] = resize(area.top, area.height, down, corner.y === 'top', source.height);
  return { left, top, width, height };
}

const precision = 1_000;

/** Reads an `fp` value, or returns the centre for any other text. */
export function readPoint(text: string): Point {
  const [x = 0, y = 0] = parseNumbers(text);
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
