/** Dashes that take as long as an element. */
const dashesPerElement = 20;
/** Browsers draw lines with more dashes as solid. */
const mostDashes = 1_000_000;
/** A shape's outline is at most this many times the sum of its numbers. */
const outline = 7;

export type Attributes = ReadonlyMap<string, string>;

export const numbersIn = (text: string): number[] =>
  (text.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);

const numbersOfShape = (attributes: Attributes): number[] =>
  ['d', 'points', 'width', 'height', 'r', 'rx', 'ry', 'x1', 'y1', 'x2', 'y2', 'pathLength'].flatMap(
    (name) => numbersIn(attributes.get(name) ?? ''),
  );

/** Returns the maximum points of a line that can draw markers. */
export function pointsOf(attributes: Attributes): number {
  const line = attributes.get('d') ?? attributes.get('points');
  if (line === undefined) return attributes.has('x1') || attributes.has('x2') ? 2 : 0;
  return numbersIn(line).length + (line.match(/z/gi) ?? []).length + 2;
}

/** Returns the elements that take as long as the dashes of a shape. */
export function dashWeight(attributes: Attributes, period: number): number {
  if (period === Number.POSITIVE_INFINITY) return 0;
  const numbers = numbersOfShape(attributes);
  const length = outline * numbers.reduce((sum, one) => sum + Math.abs(one), 0);
  return Math.min(mostDashes, length / period) / dashesPerElement;
}

const dashes = /stroke-dasharray\s*:([^;{}]*)/gi;
const ownValues = ['stroke-dasharray'] as const;
const animatedValues = ['values', 'from', 'to', 'by'] as const;

/** Returns the shortest dash period of an element or its animation; infinite for solid lines. */
export function shortestPeriod(attributes: Attributes): number {
  const style = attributes.get('style');
  const ofStyle = style === undefined ? Number.POSITIVE_INFINITY : shortestPeriodIn(style);
  const isAnimation = attributes.get('attributeName')?.trim() === 'stroke-dasharray';
  const lists = (isAnimation ? animatedValues : ownValues).flatMap(
    (name) => attributes.get(name)?.split(';') ?? [],
  );
  return lists.length === 0 ? ofStyle : Math.min(ofStyle, shortest(lists));
}

/** Returns the shortest dash period in declarations; infinite for solid lines. */
export const shortestPeriodIn = (css: string): number =>
  shortest([...css.matchAll(dashes)].map(([, value = '']) => value));

const shortest = (lists: readonly string[]): number =>
  lists.map(periodOf).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);

/** Returns the sum of a dash list; infinite for a solid line. */
function periodOf(list: string): number {
  const sum = numbersIn(list).reduce((total, one) => total + Math.abs(one), 0);
  return sum > 0 ? sum : Number.POSITIVE_INFINITY;
}
