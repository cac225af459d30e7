const number = /[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?/gi;

export const numbersIn = (text: string): number[] => (text.match(number) ?? []).map(Number);

/** User units per absolute unit. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  pt: 96 / 72,
  pc: 16,
};

const lengths = new RegExp(`(${number.source})(%|[a-z]*)`, 'gi');

export interface Lengths {
  /** The sum in user units; infinite if unknown. */
  readonly length: number;
  /** The sum of percentages, as multiples of the viewport. */
  readonly share: number;
}

/** Adds up the lengths in a value of an attribute or a property. */
export function measureLengths(value: string): Lengths {
  const isPlain = /^(?:[\s,;]|auto|none|!important)*$/i.test(value.replace(lengths, ''));
  let [length, share] = [isPlain ? 0 : Number.POSITIVE_INFINITY, 0];
  for (const [, text, unit = ''] of value.matchAll(lengths)) {
    const size = Math.abs(Number(text));
    if (unit === '%') share += size / 100;
    else length += size * (units[unit.toLowerCase()] ?? Number.POSITIVE_INFINITY);
  }
  return { length, share };
}

/** Numbers per segment of a path command. */
const sizes: Readonly<Record<string, number>> = {
  m: 2,
  l: 2,
  h: 1,
  v: 1,
  c: 6,
  s: 4,
  q: 4,
  t: 2,
  a: 7,
  z: 0,
};

/** Arcs can be large circles between near points, and reflected control points can be far away. */
const hiddenTurns: Readonly<Record<string, number>> = { a: 1, t: 3 };

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Segments per piece: the pieces of a coastline are as long as their extents. */
const pieceSize = 4;

const origin: Point = { x: 0, y: 0 };

export interface Outline {
  readonly coordinates: number;
  /** Maximum length; null if unknown. */
  readonly length: number | null;
  /**
   * How often the outline crosses its own extent: the sum of its pieces' lengths, each in extents of
   * the piece, and of their joins. It does not change with the drawing's scale, nor with points far
   * outside of it.
   */
  readonly turns: number;
}

/**
 * Measures a path.
 *
 * @param data a `d` attribute
 * @param join the largest reach of a stroke beyond the path, in the path's units
 */
export function measureOutline(data: string, join: number): Outline {
  const points: Point[] = [];
  let [coordinates, segments, hidden, length] = [0, 0, 0, 0];
  let isRegular = !/[^mlhvcsqtaz\d.e,+\s-]/i.test(data);
  let [at, opened] = [origin, origin];
  for (const [, letter = '', text = ''] of data.matchAll(/([mlhvcsqtaz])([^mlhvcsqtaz]*)/gi)) {
    const numbers = numbersIn(text);
    const command = letter.toLowerCase();
    const size = sizes[command] ?? 0;
    coordinates += numbers.length;
    if (!isComplete(text, numbers.length, size)) isRegular = false;
    if (size === 0) {
      length += Math.hypot(at.x - opened.x, at.y - opened.y);
      at = opened;
      points.push(at);
    }
    for (let from = 0; size > 0 && from < numbers.length; from += size) {
      segments += 1;
      hidden += hiddenTurns[command] ?? 0;
      const start = letter === command ? at : origin;
      for (const point of pointsIn(command, numbers.slice(from, from + size), start, at)) {
        if (command === 'm' && from === 0) opened = point;
        else length += Math.hypot(point.x - at.x, point.y - at.y);
        at = point;
        points.push(point);
      }
    }
  }
  const extent = measureExtent(points);
  const isKnown = isRegular && extent > 0 && length < Number.POSITIVE_INFINITY;
  const turns = countCrossings(points) + segments * Math.min(1, join / extent) + hidden;
  return {
    coordinates,
    length: isKnown && hidden === 0 ? length : null,
    turns: isKnown ? turns : 2 * segments,
  };
}

/** Returns whether a browser reads all numbers of a command: it ignores a path after an error. */
function isComplete(text: string, count: number, size: number): boolean {
  if (size === 0) return text.trim() === '';
  const form = text.replace(number, 'n').replace(/\s+/g, ' ').trim();
  return count > 0 && count % size === 0 && /^n(?:(?: ?, ?| |)n)*$/.test(form);
}

function countCrossings(points: readonly Point[]): number {
  let crossings = 0;
  for (let from = 0; from + 1 < points.length; from += pieceSize) {
    const piece = points.slice(from, from + pieceSize + 1);
    const extent = measureExtent(piece);
    let length = 0;
    for (const [index, { x, y }] of piece.entries()) {
      const before = piece[index - 1] ?? { x, y };
      length += Math.hypot(x - before.x, y - before.y);
    }
    // A piece that is as long as its extent does not cross itself.
    if (extent > 0) crossings += Math.max(0, length / extent - 1);
  }
  return crossings;
}

function measureExtent(points: readonly Point[]): number {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [top, bottom] = [left, right];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return Math.max(right - left, bottom - top);
}

/** Returns a segment's control points. @param start the origin of its numbers */
function pointsIn(command: string, numbers: readonly number[], start: Point, at: Point): Point[] {
  const [first = 0] = numbers;
  if (command === 'h') return [{ x: start.x + first, y: at.y }];
  if (command === 'v') return [{ x: at.x, y: start.y + first }];
  const pairs = command === 'a' ? numbers.slice(5) : numbers;
  const points: Point[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    points.push({ x: start.x + (pairs[index] ?? 0), y: start.y + (pairs[index + 1] ?? 0) });
  }
  return points;
}
