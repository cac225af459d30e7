import { measureLengths, numbersIn } from './outline.ts';

/** An element's worst possible stroke, which its children inherit. */
export interface Stroke {
  /** Whether a stroke is possible. */
  readonly isDrawn: boolean;
  /** The largest; infinite if unknown. */
  readonly width: number;
  readonly miterLimit: number;
  /** The shortest mean of two dashes; 0 if unknown, infinite for a solid line. */
  readonly period: number;
}

/** The defaults. */
export const noStroke: Stroke = {
  isDrawn: false,
  width: 1,
  miterLimit: 4,
  period: Number.POSITIVE_INFINITY,
};

function worse(a: Stroke, b: Stroke): Stroke {
  if (a === noStroke || a === b) return b;
  if (b === noStroke) return a;
  return {
    isDrawn: a.isDrawn || b.isDrawn,
    width: Math.max(a.width, b.width),
    miterLimit: Math.max(a.miterLimit, b.miterLimit),
    period: Math.min(a.period, b.period),
  };
}

export const worstStroke = (all: readonly Stroke[]): Stroke => all.reduce(worse, noStroke);

/** Measures a stroke property, or all values that an animation gives it. */
export const measureStroke = (property: string, values: string): Stroke =>
  property.startsWith('stroke')
    ? worstStroke(values.split(';').map((value) => measureValue(property, value)))
    : noStroke;

const plain = /^\s*(?:none|inherit|initial|unset)?\s*$/i;

function measureValue(property: string, value: string): Stroke {
  if (plain.test(value)) return noStroke;
  if (property === 'stroke') return { ...noStroke, isDrawn: true };
  const { length, share } = measureLengths(value);
  const size = share > 0 ? Number.POSITIVE_INFINITY : length;
  if (property === 'stroke-width') return { ...noStroke, width: size };
  if (property === 'stroke-miterlimit') return { ...noStroke, miterLimit: size };
  if (property !== 'stroke-dasharray' || size === 0) return noStroke;
  const dashes = Math.max(2, numbersIn(value).length);
  return { ...noStroke, period: size < Number.POSITIVE_INFINITY ? (2 * size) / dashes : 0 };
}
