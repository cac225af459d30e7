/** An element of the result. */
export class DrawnElement {
  readonly name: string;
  /** By local name, as the result has them. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: DrawnElement | null;
  readonly children: DrawnElement[] = [];
  /** Masks, clips, filters, and the element that a `use` or a pattern repeats. */
  repeated: readonly DrawnElement[] = [];
  /** Its own and its ancestors' patterns and markers, which browsers draw for each shape. */
  paints: readonly DrawnElement[] = [];

  constructor(name: string, attributes: ReadonlyMap<string, string>, parent: DrawnElement | null) {
    this.name = name;
    this.attributes = attributes;
    this.parent = parent;
    parent?.children.push(this);
  }

  get outline(): string {
    return this.attributes.get('d') ?? this.attributes.get('points') ?? '';
  }
}

/** Maximum patterns, markers, masks, clips and filters of an element. */
const maxReferences = 64;
/** Longest chain of elements within and repeated by elements. */
const maxChain = 1_000;

/** Elements that browsers draw only where another element refers to them. */
const definitions =
  /^(?:clipPath|defs|filter|linearGradient|marker|mask|pattern|radialGradient|symbol)$/;
const shapes = /^(?:circle|ellipse|line|path|polygon|polyline|rect|text|textPath|tspan)$/;

interface Amount {
  readonly elements: number;
  /** Of paths and polygons. */
  readonly pathCharacters: number;
}

/**
 * Returns whether a browser draws at most an amount, in linear time. `use`, patterns, markers, masks,
 * clips and filters repeat elements, so a few hundred bytes can draw billions.
 *
 * @param parts in document order
 */
export const isDrawnWithin = (
  most: Amount,
  parts: readonly DrawnElement[],
  sheets: string,
): boolean => new Drawing(most, parts).isWithin(readRules(sheets));

class Drawing {
  readonly #most: Amount;
  readonly #parts: readonly DrawnElement[];
  /** The first element with an id counts, as in browsers. */
  readonly #byId = new Map<string, DrawnElement>();
  /** The elements that are being drawn. */
  readonly #open = new Set<DrawnElement>();
  readonly #points = new Map<DrawnElement, number>();
  #elements = 0;
  #pathCharacters = 0;

  constructor(most: Amount, parts: readonly DrawnElement[]) {
    this.#most = most;
    this.#parts = parts;
    for (const part of parts) {
      const id = part.attributes.get('id');
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, part);
    }
  }

  isWithin(rules: Rules): boolean {
    const [root] = this.#parts;
    if (root === undefined) return true;
    return this.#parts.every((part) => this.#resolve(part, rules)) && this.#draw(root, []);
  }

  /** Finds an element's references; returns false for too many. */
  #resolve(part: DrawnElement, rules: Rules): boolean {
    const { name, attributes, parent } = part;
    const ids = [...attributes.values()].flatMap(findIds);
    const classes = attributes.get('class')?.split(/\s+/) ?? [];
    for (const key of ['*', name, `#${attributes.get('id')}`, ...classes.map((each) => `.${each}`)])
      if (ids.length <= maxReferences) ids.push(...(rules.get(key) ?? []));
    if (ids.length > maxReferences) return false;
    const href = attributes.get('href') ?? '';
    const isRepeating = name === 'use' || name === 'pattern';
    const used = isRepeating && href.startsWith('#') ? this.#find([href.slice(1)]) : [];
    const found = this.#find(ids);
    const paints = found.filter((each) => each.name === 'pattern' || each.name === 'marker');
    const above = parent?.paints ?? [];
    part.paints = paints.length === 0 ? above : [...new Set([...above, ...paints])];
    part.repeated = [
      ...used,
      ...found.filter((each) => /^(?:mask|clipPath|filter)$/.test(each.name)),
    ];
    return part.paints.length <= maxReferences;
  }

  /** Returns elements by their ids, as sent and as browsers decode them. */
  #find(ids: readonly string[]): DrawnElement[] {
    return [...new Set(ids.flatMap((id) => [id, decode(id)]))].flatMap(
      (id) => this.#byId.get(id) ?? [],
    );
  }

  /** @param added paints of `use` elements around it */
  #draw(part: DrawnElement, added: readonly DrawnElement[]): boolean {
    const { name, children, repeated, paints, outline } = part;
    this.#elements += name === 'filter' ? countRuns(part) : 1;
    this.#pathCharacters += outline.length;
    const isTooMuch =
      this.#elements > this.#most.elements || this.#pathCharacters > this.#most.pathCharacters;
    if (isTooMuch || this.#open.size > maxChain) return false;
    // Browsers ignore an element that repeats itself.
    if (this.#open.has(part)) return true;
    this.#open.add(part);
    const all = paints.length + added.length === 0 ? [] : [...new Set([...paints, ...added])];
    const isWithin =
      all.length <= maxReferences &&
      (!shapes.test(name) || all.every((paint) => this.#paint(part, paint))) &&
      repeated.every((each) => this.#draw(each, name === 'use' ? all : [])) &&
      children.every((child) => definitions.test(child.name) || this.#draw(child, added));
    this.#open.delete(part);
    return isWithin;
  }

  /** Draws a pattern once, and a marker at each point. */
  #paint(shape: DrawnElement, paint: DrawnElement): boolean {
    const times = paint.name === 'marker' ? this.#countPoints(shape) : 1;
    for (let time = 0; time < times; time += 1) if (!this.#draw(paint, [])) return false;
    return true;
  }

  #countPoints(shape: DrawnElement): number {
    const known = this.#points.get(shape);
    const points = known ?? 2 + (shape.outline.match(/\d+|z/gi)?.length ?? 0);
    this.#points.set(shape, points);
    return points;
  }
}

/** Returns how often a filter's primitives run: browsers run one again for each use of its result. */
function countRuns(filter: DrawnElement): number {
  const runs = new Map<string | undefined, number>();
  let last = 0;
  for (const { name, attributes, children } of filter.children) {
    const inputs =
      name === 'feMerge'
        ? children.map((node) => node.attributes.get('in'))
        : ['in', ...(/^fe(?:Blend|Composite)$/.test(name) ? ['in2'] : [])].map((input) =>
            attributes.get(input),
          );
    last = inputs.reduce(
      (sum, input) => sum + (input === undefined ? last : (runs.get(input.trim()) ?? 0)),
      1,
    );
    runs.set(attributes.get('result')?.trim(), last);
  }
  return 1 + last;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

const findIds = (value: string): string[] =>
  value.includes('#')
    ? [...value.matchAll(/url\(\s*["']?#([^"'()\\]*)/gi)].map(([, id = '']) => id.trim())
    : [];

/** The ids that style rules refer to, by the tag name, `#id`, `.class` or `*` of their elements. */
type Rules = ReadonlyMap<string, ReadonlySet<string>>;

function readRules(sheets: string): Rules {
  const rules = new Map<string, Set<string>>();
  const add = (declarations: string, readNames: () => readonly string[]) => {
    const ids = [...new Set(findIds(declarations))].slice(0, maxReferences + 1);
    for (const name of ids.length === 0 ? [] : readNames()) {
      const known = rules.get(name) ?? new Set();
      for (const id of ids) if (known.size <= maxReferences) known.add(id);
      rules.set(name, known);
    }
  };
  // A brace in a string hides where a rule ends.
  const isPlain = !/["']/.test(sheets.replace(/"[^"\n{};]*"|'[^'\n{};]*'/g, ''));
  if (!isPlain) add(sheets, () => ['*']);
  for (const block of isPlain ? sheets.split('}') : []) {
    const open = block.lastIndexOf('{');
    const selectors = block.slice(0, Math.max(open, 0)).split(/[{;]/).at(-1) ?? '';
    add(block.slice(open + 1), () => selectors.split(',').map(readLastName));
    // Declarations before a nested rule count for all elements.
    add(block.slice(0, Math.max(open, 0)), () => ['*']);
  }
  return rules;
}

/** Returns the last name of a selector; `*` if the selector can match any element. */
function readLastName(selector: string): string {
  const last =
    selector
      .trim()
      .split(/[\s>+~]+/)
      .at(-1) ?? '';
  const isKeyframe = last === 'from' || last === 'to';
  if (isKeyframe || !/^[.#]?[\w-]+(?:[.#][\w-]+)*$/.test(last)) return '*';
  return /[.#]?[\w-]+$/.exec(last)?.[0] ?? '*';
}
