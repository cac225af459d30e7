import { functionWeight } from './filter-weight.ts';
import { type Lengths, measureLengths } from './outline.ts';
import { measureStroke, noStroke, type Stroke, worstStroke } from './stroke.ts';

/** The drawing of an element's attributes, style rules and animations, with the ids that they repeat. */
export interface Painting extends Lengths {
  /** Paints, markers and strokes, which children inherit. */
  readonly paints: readonly string[];
  readonly markers: readonly string[];
  readonly stroke: Stroke;
  /** Masks, clips and filters. */
  readonly surfaces: readonly string[];
  /** Weight of filter functions, such as `blur(3px)`, of blending and of radii. */
  readonly passes: number;
  /** Effects that a browser draws on a surface if the element has children, such as `opacity`. */
  readonly effects: number;
}

export const noPainting: Painting = {
  paints: [],
  markers: [],
  stroke: noStroke,
  surfaces: [],
  passes: 0,
  effects: 0,
  length: 0,
  share: 0,
};

/** Maximum ids per list of an element; a document with more counts as endless. */
export const mostIds = 64;

const reference = /url\(\s*["']?#([^"'()\\]*)/gi;
const surface = /^(?:-webkit-)?(?:mask|clip-path|filter|backdrop-filter)\b/;
const filtering = /filter$/;
const clipping = /clip-path$/;
const effect = /^(?:opacity|isolation|mix-blend-mode)$/;
const blending = /^mix-blend-mode$/;
export const clipWeight = 150;
const blendWeight = 400;
/** Properties that lengthen a shape's outline, and those that make it round. */
const side = /^(?:width|height|r[xy]?|[xy][12]|pathlength)$/;
const radius = /^r[xy]?$/;
export const roundWeight = 60;
const withoutEffect = /^\s*(?:1|100%|normal|auto|inherit)\s*$/i;

/** Returns the ids that a fragment can name, as browsers also decode it. */
export function possibleIds(fragment: string): string[] {
  try {
    return [...new Set([fragment, decodeURIComponent(fragment)])];
  } catch {
    return [fragment];
  }
}

const idsIn = (value: string): string[] =>
  [...value.matchAll(reference)].flatMap(([, id = '']) => possibleIds(id.trim()));

export function joined(all: readonly Painting[]): Painting {
  const [first = noPainting, ...others] = all.filter((painting) => painting !== noPainting);
  if (others.length === 0) return first;
  return {
    paints: all.flatMap(({ paints }) => paints).slice(0, mostIds + 1),
    markers: all.flatMap(({ markers }) => markers).slice(0, mostIds + 1),
    stroke: worstStroke(all.map(({ stroke }) => stroke)),
    surfaces: all.flatMap(({ surfaces }) => surfaces).slice(0, mostIds + 1),
    passes: all.reduce((sum, { passes }) => sum + passes, 0),
    effects: all.reduce((sum, { effects }) => sum + effects, 0),
    length: all.reduce((sum, { length }) => sum + length, 0),
    share: all.reduce((sum, { share }) => sum + share, 0),
  };
}

function toPainting(name: string, value: string): Painting {
  const property = name.toLowerCase();
  if (side.test(property)) {
    const passes = radius.test(property) ? roundWeight : 0;
    return { ...noPainting, ...measureLengths(value), passes };
  }
  if (effect.test(property)) {
    if (withoutEffect.test(value)) return noPainting;
    const passes = blending.test(property) ? blendWeight : 0;
    return { ...noPainting, effects: 1, passes };
  }
  const weight = filtering.test(property)
    ? functionWeight
    : clipping.test(property)
      ? clipWeight
      : 0;
  const passes = weight === 0 ? 0 : weight * (value.match(/\(/g) ?? []).length;
  const ids = value.includes('#') ? idsIn(value) : [];
  const stroke = measureStroke(property, value);
  if (ids.length + passes === 0 && stroke === noStroke) return noPainting;
  if (surface.test(property)) return { ...noPainting, surfaces: ids, passes };
  if (property.startsWith('marker')) return { ...noPainting, markers: ids };
  return { ...noPainting, paints: ids, passes, stroke };
}

const ofDeclarations = (text: string): Painting =>
  joined(
    text.split(';').map((declaration) => {
      const colon = declaration.indexOf(':');
      return toPainting(
        declaration.slice(0, Math.max(colon, 0)).trim(),
        declaration.slice(colon + 1),
      );
    }),
  );

/** Returns the references in an element's attributes. */
export function paintingOfAttributes(attributes: ReadonlyMap<string, string>): Painting {
  const paintings: Painting[] = [];
  for (const [name, value] of attributes) {
    const painting = name === 'style' ? ofDeclarations(value) : toPainting(name, value);
    if (painting !== noPainting) paintings.push(painting);
  }
  return joined(paintings);
}

export const animatedValues = ['values', 'from', 'to', 'by'] as const;

/** Returns the references that an animation gives to its target. */
export function paintingOfAnimation(attributes: ReadonlyMap<string, string>): Painting {
  const property = attributes.get('attributeName')?.trim() ?? '';
  const values = animatedValues.flatMap((name) => attributes.get(name) ?? []);
  const modes = ['additive', 'accumulate'].map((name) => attributes.get(name));
  if (!attributes.has('by') && !modes.includes('sum'))
    return joined(values.map((value) => toPainting(property, value)));
  // Sums can reach any size.
  const sized = property === 'd' || property === 'points' ? 'width' : property;
  return joined([...values, 'calc()'].map((value) => toPainting(sized, value)));
}

/** Returns whether an element's lists are too long to count. */
export const isTooLong = ({ paints, markers, surfaces }: Painting): boolean =>
  Math.max(paints.length, markers.length, surfaces.length) > mostIds;

/** A rule of a style sheet that repeats elements. */
export interface PaintRule {
  /** Tag names, ids with `#` and classes with `.`; null for all elements. */
  readonly names: ReadonlySet<string> | null;
  readonly painting: Painting;
}

/** Selectors of keyframes, which change any element. */
const keyframes: ReadonlySet<string> = new Set(['from', 'to']);

/**
 * Returns the names in the last part of each selector; null if a selector can match any element.
 */
function readNames(selectors: string): ReadonlySet<string> | null {
  const names = new Set<string>();
  for (const selector of selectors.split(',')) {
    const last =
      selector
        .trim()
        .split(/[\s>+~]+/)
        .at(-1) ?? '';
    if (keyframes.has(last) || !/^[.#]?[\w-]+(?:[.#][\w-]+)*$/.test(last)) return null;
    for (const name of last.match(/[.#]?[\w-]+/g) ?? []) names.add(name);
  }
  return names;
}

const plainStrings = /"[^"\n{};]*"|'[^'\n{};]*'/g;

/** Returns the rules of a style sheet that repeat elements. */
export function readPaintRules(sheet: string): readonly PaintRule[] {
  const rules: PaintRule[] = [];
  // A string with a brace hides where a rule ends.
  const isPlain = !/["']/.test(sheet.replace(plainStrings, ''));
  let selectors = '';
  let declarations = '';
  const end = (next: string) => {
    const painting = ofDeclarations(declarations);
    if (painting !== noPainting)
      rules.push({ names: isPlain ? readNames(selectors) : null, painting });
    selectors = next;
    declarations = '';
  };
  for (const [, text = '', delimiter] of sheet.matchAll(/([^{};]*)([{};]|$)/g)) {
    if (delimiter === '{') {
      end(text);
      continue;
    }
    declarations += `${text};`;
    // Declarations after a nested rule count for all elements.
    if (delimiter === '}') end('');
  }
  end('');
  return rules;
}

/** Selectors whose check can visit all other elements. */
const visiting = /:(?:has|nth-[a-z-]+|only-[a-z-]+|is|where|not)\(/gi;
const visits = 500;

/** Returns how many selectors a style sheet has; a selector that visits other elements counts as many. */
export function countSelectors(sheet: string): number {
  const selectors = sheet.match(/[{,]/g)?.length ?? 0;
  const combined = sheet.match(/[\s>+~][.#*:\w[]/g)?.length ?? 0;
  return selectors + combined + visits * (sheet.match(visiting)?.length ?? 0);
}
