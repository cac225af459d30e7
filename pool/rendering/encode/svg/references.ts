/** Ids of the elements that an element's values repeat. */
export interface Painting {
  /** Paints and markers, which children inherit. */
  readonly paints: readonly string[];
  readonly markers: readonly string[];
  /** Masks, clips and filters. */
  readonly surfaces: readonly string[];
  /** Filter functions, such as `blur(3px)`. */
  readonly functions: number;
  /** Effects that a browser draws on a surface if the element has children, such as `opacity`. */
  readonly effects: number;
}

export const noPainting: Painting = {
  paints: [],
  markers: [],
  surfaces: [],
  functions: 0,
  effects: 0,
};

/** Maximum ids per list of an element; a document with more counts as endless. */
export const mostIds = 64;

const reference = /url\(\s*["']?#([^"'()\\]*)/gi;
const surface = /^(?:-webkit-)?(?:mask|clip-path|filter|backdrop-filter)\b/i;
const filtering = /filter$/i;
const effect = /^(?:opacity|mix-blend-mode|isolation)$/i;
const withoutEffect = /^\s*(?:1|100%|normal|auto|inherit)\s*$/i;

/** Returns the ids that a fragment can name, as browsers also decode it. */
export function idsOf(fragment: string): string[] {
  try {
    return [...new Set([fragment, decodeURIComponent(fragment)])];
  } catch {
    return [fragment];
  }
}

const idsIn = (value: string): string[] =>
  [...value.matchAll(reference)].flatMap(([, id = '']) => idsOf(id.trim()));

export function joined(all: readonly Painting[]): Painting {
  const [first = noPainting, ...others] = all.filter((one) => one !== noPainting);
  if (others.length === 0) return first;
  return {
    paints: all.flatMap(({ paints }) => paints).slice(0, mostIds + 1),
    markers: all.flatMap(({ markers }) => markers).slice(0, mostIds + 1),
    surfaces: all.flatMap(({ surfaces }) => surfaces).slice(0, mostIds + 1),
    functions: all.reduce((sum, { functions }) => sum + functions, 0),
    effects: all.reduce((sum, { effects }) => sum + effects, 0),
  };
}

function paintingOf(property: string, value: string): Painting {
  if (effect.test(property)) {
    return withoutEffect.test(value) ? noPainting : { ...noPainting, effects: 1 };
  }
  const functions = filtering.test(property) ? (value.match(/\(/g) ?? []).length : 0;
  const ids = value.includes('#') ? idsIn(value) : [];
  if (ids.length + functions === 0) return noPainting;
  if (surface.test(property)) return { ...noPainting, surfaces: ids, functions };
  if (property.startsWith('marker')) return { ...noPainting, markers: ids };
  return { ...noPainting, paints: ids, functions };
}

const ofDeclarations = (text: string): Painting =>
  joined(
    text.split(';').map((one) => {
      const colon = one.indexOf(':');
      return paintingOf(one.slice(0, Math.max(colon, 0)).trim(), one.slice(colon + 1));
    }),
  );

/** Returns the references in an element's attributes. */
export function paintingOfAttributes(attributes: ReadonlyMap<string, string>): Painting {
  const paintings: Painting[] = [];
  for (const [name, value] of attributes) {
    const painting = name === 'style' ? ofDeclarations(value) : paintingOf(name, value);
    if (painting !== noPainting) paintings.push(painting);
  }
  return joined(paintings);
}

/** A rule of a style sheet that repeats elements. */
export interface PaintRule {
  /** Tag names, ids with `#` and classes with `.`; null for all elements. */
  readonly names: ReadonlySet<string> | null;
  readonly painting: Painting;
}

/**
 * Returns the names in the last part of each selector; null if a selector can match any element.
 */
function namesOf(selectors: string): ReadonlySet<string> | null {
  const names = new Set<string>();
  for (const selector of selectors.split(',')) {
    const last =
      selector
        .trim()
        .split(/[\s>+~]+/)
        .at(-1) ?? '';
    if (!/^[.#]?[\w-]+(?:[.#][\w-]+)*$/.test(last)) return null;
    for (const name of last.match(/[.#]?[\w-]+/g) ?? []) names.add(name);
  }
  return names;
}

/** Returns the rules of a style sheet that repeat elements. */
export function paintRulesOf(sheet: string): readonly PaintRule[] {
  const rules: PaintRule[] = [];
  let selectors = '';
  let declarations = '';
  const end = (next: string) => {
    const painting = ofDeclarations(declarations);
    if (painting !== noPainting) rules.push({ names: namesOf(selectors), painting });
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
export function selectorsOf(sheet: string): number {
  const selectors = sheet.match(/[{,]/g)?.length ?? 0;
  const combined = sheet.match(/[\s>+~][.#*:\w[]/g)?.length ?? 0;
  return selectors + combined + visits * (sheet.match(visiting)?.length ?? 0);
}
