import { measureOutline, numbersIn } from './outline.ts';

/**
 * Weights are multiples of 5 µs in Chromium on two cores: 200 to 600 µs for a shape as large as a
 * page, 10 µs for a coordinate of a path, and 300 µs for a glyph as large as a page.
 */
const shapeWeight = 60;
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
/** Of lines with dashes in relative units or variables. */
const unknownDashes = 30_000;
const unknownPeriod = Number.MIN_VALUE;
/** A shape's outline is at most this many times the sum of its numbers. */
const outline = 7;

export type Attributes = ReadonlyMap<string, string>;

/** Crossings of a path with itself per weight: a browser sorts the edges in each row of pixels. */
const crossingsPerWeight = 500;

interface ShapePart {
  readonly name: string;
  readonly attributes: Attributes;
  /** Of its own text. */
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

/**
 * Returns the weight of an element without its children.
 *
 * @param join the largest reach of a stroke beyond its path
 */
export function computeElementWeight(part: ShapePart, join: number): number {
  const { name, characters } = part;
  if (texts.has(name)) return shapeWeight + characters * glyphWeight;
  if (!shapes.has(name)) return weights[name] ?? elementWeight;
  const { coordinates, turns } = measureOutline(toPath(part) ?? '', join);
  return shapeWeight + coordinates * coordinateWeight + turns ** 2 / crossingsPerWeight;
}

/** Returns a shape's path; null for other elements, because browsers ignore their `d` and `points`. */
function toPath({ name, attributes }: Pick<ShapePart, 'name' | 'attributes'>): string | null {
  if (name === 'path') return attributes.get('d') ?? '';
  const isPoly = name === 'polygon' || name === 'polyline';
  return isPoly ? `M${attributes.get('points') ?? ''}` : null;
}

const numbersOfShape = (attributes: Attributes): number[] =>
  ['d', 'points', 'width', 'height', 'r', 'rx', 'ry', 'x1', 'y1', 'x2', 'y2', 'pathLength'].flatMap(
    (name) => numbersIn(attributes.get(name) ?? ''),
  );

/** Returns the maximum points of a line that can draw markers. */
export function countPoints(part: ShapePart): number {
  const path = toPath(part);
  if (path === null) return part.name === 'line' ? 2 : 0;
  return numbersIn(path).length + (path.match(/z/gi) ?? []).length + 2;
}

/** Returns the weight of a shape's dashes. @param side of the drawing, which limits glyphs */
export function dashWeight(part: ShapePart, period: number, side: number): number {
  const { name, attributes, characters } = part;
  if (period === Number.POSITIVE_INFINITY) return 0;
  const most = period === unknownPeriod ? unknownDashes : mostDashes;
  if (texts.has(name)) return characters * Math.min(most, side / 10 / period) * weightPerDash;
  if (!shapes.has(name)) return 0;
  const path = attributes.has('pathLength') ? null : toPath(part);
  const numbers = numbersOfShape(attributes);
  const bound = outline * numbers.reduce((sum, dash) => sum + Math.abs(dash), 0);
  const length = (path === null ? null : measureOutline(path, 0).length) ?? bound;
  return Math.min(most, length / period) * weightPerDash;
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
  lists.map(dashPeriod).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);

/** Dash lists without units that depend on the drawing, functions and variables. */
const plainDashes = /^(?:[-+\d.e,\s]|px|p[tc]|[cm]m|in|none|inherit|!important)*$/i;

/** Returns the sum of a dash list; infinite for a solid line, and tiny if unknown. */
function dashPeriod(list: string): number {
  if (!plainDashes.test(list)) return unknownPeriod;
  const sum = numbersIn(list).reduce((total, dash) => total + Math.abs(dash), 0);
  return sum > 0 ? sum : Number.POSITIVE_INFINITY;
}

const strokes = /(stroke-width|stroke-miterlimit)\s*:([^;{}]*)/gi;
const plainLength = /^\s*\+?([\d.]+(?:e-?\d+)?)(?:px)?\s*(?:!important)?\s*$/i;

/** The largest values of a document's strokes; infinite if unknown. */
export class Strokes {
  #width = 1;
  /** The default. */
  #miterLimit = 4;

  /** How far a join can reach beyond its path. */
  get join(): number {
    return this.#width * this.#miterLimit;
  }

  addAttributes(attributes: Attributes): void {
    for (const [name, value] of attributes) {
      if (name === 'style') this.addSheet(value);
      else this.#add(name, value);
    }
    const animated = attributes.get('attributeName')?.trim() ?? '';
    for (const name of animatedValues) {
      for (const value of attributes.get(name)?.split(';') ?? []) this.#add(animated, value);
    }
  }

  addSheet(css: string): void {
    for (const [, name = '', value = ''] of css.matchAll(strokes)) this.#add(name, value);
  }

  #add(given: string, value: string): void {
    const name = given.toLowerCase();
    if (name !== 'stroke-width' && name !== 'stroke-miterlimit') return;
    if (/^\s*(?:inherit|initial|unset)?\s*$/i.test(value)) return;
    const number = Number(plainLength.exec(value)?.[1] ?? Number.POSITIVE_INFINITY);
    if (name === 'stroke-width') this.#width = Math.max(this.#width, number);
    else this.#miterLimit = Math.max(this.#miterLimit, number);
  }
}
