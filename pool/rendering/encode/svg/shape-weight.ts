import { measureOutline, numbersIn } from './outline.ts';
import { animatedValues, type Painting, roundWeight } from './references.ts';

/**
 * Weights are multiples of 5 µs in Chromium on two cores: 200 to 600 µs for a shape as large as a
 * page, 10 µs for a coordinate of a path, and 300 µs for a glyph as large as a page.
 */
const shapeWeight = 60;
/** A stroke, which round paths include. */
const strokeWeight = 30;
const coordinateWeight = 2;
const glyphWeight = 60;
/** An image of four megapixels, which is scaled for each use. */
const imageWeight = 4_000;
/** Any other element: its style and its layout. */
const elementWeight = 4;
/** Per shape or point that uses the element. */
const weights: Readonly<Record<string, number>> = {
  linearGradient: 220,
  radialGradient: 220,
  pattern: 600,
  marker: 100,
  image: imageWeight,
  feImage: imageWeight,
};

/** A dash with wide, round caps. */
const weightPerDash = 3;
/** Browsers draw lines with more dashes as solid. */
const mostDashes = 1_000_000;
/** A shape's outline is at most this many times the sum of its numbers. */
const outline = 7;

export type Attributes = ReadonlyMap<string, string>;

/**
 * Weights of a path's turns (`shapeWeight` includes the first): a browser sorts the edges in
 * each row of pixels.
 */
const [freeTurns, turnWeight, turnsPerWeight] = [5, 8, 500];

interface ShapePart {
  readonly name: string;
  readonly attributes: Attributes;
  readonly painting: Painting;
  /** Characters of the element's own text. */
  readonly characters: number;
}

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

/** Returns the weight of an element without its children. */
export function computeElementWeight(part: ShapePart): number {
  const { name, characters, painting } = part;
  if (texts.has(name)) return shapeWeight + characters * glyphWeight;
  const path = toPath(part);
  if (!shapes.has(name) && path === null) return weights[name] ?? elementWeight;
  const { isDrawn, width, miterLimit } = painting.stroke;
  const join = isDrawn ? width * miterLimit : 0;
  const { coordinates, turns } = measureOutline(path ?? '', join);
  const crossings = Math.max(0, turns - freeTurns) * turnWeight + turns ** 2 / turnsPerWeight;
  const round = /a/i.test(path ?? '') ? roundWeight : 0;
  const extra = Math.max(round, isDrawn ? strokeWeight : 0);
  return shapeWeight + extra + coordinates * coordinateWeight + crossings;
}

/**
 * Returns a shape's or its animation's path; null for other elements, because browsers ignore
 * their `d` and `points`.
 */
function toPath({ name, attributes }: Pick<ShapePart, 'name' | 'attributes'>): string | null {
  if (name === 'path') return attributes.get('d') ?? '';
  if (name === 'polygon' || name === 'polyline') return `M${attributes.get('points') ?? ''}`;
  const animated = attributes.get('attributeName')?.trim();
  if (animated !== 'd' && animated !== 'points') return null;
  const values = animatedValues.map((value) => attributes.get(value) ?? '').join(';');
  return (animated === 'd' ? '' : 'M') + values.replaceAll(';', animated === 'd' ? ' ' : 'M');
}

/** Returns the maximum points of a line that can draw markers. */
export function countPoints(part: ShapePart): number {
  const path = toPath(part);
  if (path === null) return part.name === 'line' ? 2 : 0;
  return numbersIn(path).length + (path.match(/z/gi) ?? []).length + 2;
}

/**
 * Returns the weight of a shape's dashes.
 *
 * @param side of the drawing, which limits glyphs
 * @param viewport the longest side of a viewport, which percentages refer to
 */
export function dashWeight(
  part: ShapePart,
  { side, viewport }: { readonly side: number; readonly viewport: number },
): number {
  const { name, characters, painting } = part;
  const { stroke, length, share } = painting;
  const period = stroke.isDrawn ? stroke.period : Number.POSITIVE_INFINITY;
  if (period === Number.POSITIVE_INFINITY) return 0;
  if (texts.has(name)) return characters * Math.min(mostDashes, side / 10 / period) * weightPerDash;
  const path = toPath(part);
  if (!shapes.has(name) && path === null) return 0;
  const sides = length + (share > 0 ? share * viewport : 0);
  const known = path === null || sides > 0 ? null : measureOutline(path, 0).length;
  const numbers = numbersIn(path ?? '').reduce((sum, each) => sum + Math.abs(each), sides);
  return Math.min(mostDashes, (known ?? outline * numbers) / period) * weightPerDash;
}
