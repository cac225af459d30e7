/**
 * Weights are multiples of 5 µs in Chromium on the machine of the measurements: 200 µs for a shape
 * as large as a page, up to 50 µs per coordinate of a path with a wide, round stroke, and 300 µs for
 * a glyph as large as a page.
 */
const shapeWeight = 40;
const coordinateWeight = 4;
const glyphWeight = 60;
/** An image of four megapixels, which is scaled for each use. */
const imageWeight = 4_000;
/** Any other element: its style and its layout. */
const elementWeight = 4;
/** For each shape or point that uses the element. */
const weights: Readonly<Record<string, number>> = {
  linearGradient: 220,
  radialGradient: 220,
  pattern: 600,
  marker: 100,
  image: imageWeight,
  feImage: imageWeight,
};

/** Dashes per weight. */
const dashesPerWeight = 20;
/** Browsers draw lines with more dashes as solid. */
const mostDashes = 1_000_000;
/** A shape's outline is at most this many times the sum of its numbers. */
const outline = 7;

export type Attributes = ReadonlyMap<string, string>;

export const numbersIn = (text: string): number[] =>
  (text.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);

const shapes: ReadonlySet<string> = new Set([
  'circle',
  'ellipse',
  'line',
  'path',
  'polygon',
  'polyline',
  'rect',
]);
const texts: ReadonlySet<string> = new Set(['text', 'textPath', 'tspan']);

/** Returns the weight of an element without its children. @param characters of its own text */
export function elementWeightOf(name: string, attributes: Attributes, characters: number): number {
  if (texts.has(name)) return shapeWeight + characters * glyphWeight;
  if (!shapes.has(name)) return weights[name] ?? elementWeight;
  const coordinates = numbersIn(attributes.get('d') ?? attributes.get('points') ?? '');
  return shapeWeight + coordinates.length * coordinateWeight;
}

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

/** Returns the weight of a shape's dashes. */
export function dashWeight(attributes: Attributes, period: number): number {
  if (period === Number.POSITIVE_INFINITY) return 0;
  const numbers = numbersOfShape(attributes);
  const length = outline * numbers.reduce((sum, one) => sum + Math.abs(one), 0);
  return Math.min(mostDashes, length / period) / dashesPerWeight;
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

/** Dash lists without units that depend on the drawing, functions and variables. */
const plainDashes = /^(?:[-+\d.e,\s]|px|p[tc]|[cm]m|in|none|inherit|!important)*$/i;

/** Returns the sum of a dash list; infinite for a solid line, and tiny if unknown. */
function periodOf(list: string): number {
  if (!plainDashes.test(list)) return Number.MIN_VALUE;
  const sum = numbersIn(list).reduce((total, one) => total + Math.abs(one), 0);
  return sum > 0 ? sum : Number.POSITIVE_INFINITY;
}
