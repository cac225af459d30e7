import { animations } from './allowed.ts';
import { filterWeight, functionWeight } from './filter-weight.ts';
import {
  idsOf,
  joined,
  mostIds,
  noPainting,
  type Painting,
  paintingOfAttributes,
  paintRulesOf,
  selectorsOf,
} from './references.ts';
import { dashWeight, pointsOf, shortestPeriod, shortestPeriodIn } from './shape-weight.ts';

/** An element of the result. */
export interface WrittenElement {
  readonly name: string;
  /** By local name, as the result has them. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** An element with its children and the elements that it repeats. */
export interface Part extends WrittenElement {
  readonly children: Part[];
  readonly classes: readonly string[];
  /** Includes the ancestors' paints and markers, and style sheets' paints, once counted. */
  painting: Painting;
  readonly isInClip: boolean;
  /** Undefined before the count; null during it. */
  cost?: Cost | null;
}

interface Cost {
  /** The weights of all elements that a browser draws for this element. */
  readonly weight: number;
  readonly elements: number;
  /** Points that can draw markers. */
  readonly points: number;
}

const nothing: Cost = { weight: 0, elements: 0, points: 0 };
const endless: Cost = { weight: Number.POSITIVE_INFINITY, elements: 1, points: 0 };

/** Longest chain of elements within and repeated by elements; longer chains count as endless. */
const maxChain = 1_000;

/** Elements that a browser draws only where another element refers to them. */
const definitions: ReadonlySet<string> = new Set([
  'clipPath',
  'defs',
  'filter',
  'marker',
  'mask',
  'pattern',
  'symbol',
]);

/** Elements that draw nothing themselves. */
const weightless: ReadonlySet<string> = new Set([
  ...animations,
  'linearGradient',
  'radialGradient',
  'stop',
]);

/** The elements that take as long as a surface of a megapixel, such as a mask's. */
const surfaceWeight = 5_000;
const groupWeight = 500;

/** Style sheet selectors that a browser can check in the time of drawing an element. */
const checksPerElement = 50;

/** Elements whose `href` repeats an element. */
const repeating: ReadonlySet<string> = new Set(['use', 'feImage', 'pattern']);

const added = (a: Cost, b: Cost): Cost => ({
  weight: a.weight + b.weight,
  elements: a.elements + b.elements,
  points: a.points + b.points,
});

/**
 * Counts everything that a browser draws for a document. `use`, patterns, markers, masks, clips and
 * filters repeat other elements, so a few hundred bytes can expand to billions. A surface, such as
 * a mask's, counts as many elements.
 */
export class Expansion {
  /** In document order. */
  readonly #parts: Part[] = [];
  /** The first element with an id counts, as in browsers. */
  readonly #byId = new Map<string, Part>();
  /** The drawing's longer side in its own units. */
  readonly #side: number;
  /** The shortest period of dashes in the document. */
  #period = Number.POSITIVE_INFINITY;
  #hasMarkers = false;

  constructor(side: number) {
    this.#side = side;
  }

  add(parent: Part | undefined, { name, attributes }: WrittenElement): Part {
    const own = paintingOfAttributes(attributes);
    const part: Part = {
      name,
      attributes,
      children: [],
      classes: attributes.get('class')?.split(/\s+/) ?? [],
      painting: own,
      isInClip: name === 'clipPath' || parent?.isInClip === true,
    };
    parent?.children.push(part);
    this.#period = Math.min(this.#period, shortestPeriod(attributes));
    this.#parts.push(part);
    const id = attributes.get('id');
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, part);
    return part;
  }

  /**
   * The weight of the drawing; infinite for a chain that is too long.
   *
   * @param sheets the style sheets of the result
   */
  weight(sheets: string): number {
    const [root] = this.#parts;
    if (root === undefined) return 0;
    this.#period = Math.min(this.#period, shortestPeriodIn(sheets));
    this.#style(sheets);
    this.#inherit();
    this.#hasMarkers = this.#parts.some(({ painting }) => painting.markers.length > 0);
    const lists = this.#parts.flatMap(({ painting }) => [
      painting.paints.length,
      painting.markers.length,
      painting.surfaces.length,
    ]);
    if (lists.some((ids) => ids > mostIds)) return Number.POSITIVE_INFINITY;
    const { weight, elements } = this.#cost(root, 0);
    return weight + (elements * selectorsOf(sheets)) / checksPerElement;
  }

  #style(sheets: string): void {
    const rules = paintRulesOf(sheets);
    const all = joined(rules.flatMap(({ names, painting }) => (names === null ? painting : [])));
    const byName = new Map<string, Painting>();
    for (const { names, painting } of rules) {
      for (const name of names ?? []) {
        byName.set(name, joined([byName.get(name) ?? noPainting, painting]));
      }
    }
    if (rules.length === 0) return;
    for (const part of this.#parts) {
      const id = part.attributes.get('id');
      const names = [part.name, `#${id}`, ...part.classes.map((name) => `.${name}`)];
      const styled = names.flatMap((name) => byName.get(name) ?? []);
      part.painting = joined([part.painting, all, ...styled]);
    }
  }

  #inherit(): void {
    for (const { painting, children } of this.#parts) {
      const { paints, markers } = painting;
      for (const child of children) {
        if (animations.has(child.name)) continue;
        if (paints.length + markers.length === 0) continue;
        child.painting = joined([child.painting, { ...noPainting, paints, markers }]);
      }
    }
  }

  #partsOf(ids: readonly string[]): Part[] {
    return [...new Set(ids)].flatMap((id) => this.#byId.get(id) ?? []);
  }

  #cost(part: Part, chain: number): Cost {
    // Browsers ignore an element that repeats itself.
    if (part.cost === null) return nothing;
    if (part.cost !== undefined) return part.cost;
    if (chain > maxChain) return endless;
    part.cost = null;
    const sum = (parts: readonly Part[]): Cost =>
      parts.map((one) => this.#cost(one, chain + 1)).reduce(added, nothing);
    const { name, attributes, children, painting, isInClip } = part;
    const href = attributes.get('href') ?? '';
    const repeated =
      repeating.has(name) && href.startsWith('#') ? this.#partsOf(idsOf(href.slice(1))) : [];
    const drawn = sum([...children.filter((one) => !definitions.has(one.name)), ...repeated]);
    const elements = 1 + drawn.elements;
    const points = (this.#hasMarkers ? pointsOf(attributes) : 0) + drawn.points;
    const surfaces = this.#partsOf(painting.surfaces);
    // A `use` gives its paints and markers to all that it repeats.
    const isUse = name === 'use';
    const weight =
      (weightless.has(name) ? 0 : 1) +
      drawn.weight +
      (isUse ? elements : 1) * sum(this.#partsOf(painting.paints)).weight +
      (isUse ? points + elements : points) * sum(this.#partsOf(painting.markers)).weight +
      sum(surfaces).weight +
      surfaces.reduce((total, one) => total + this.#surface(one, isInClip), 0) +
      painting.functions * functionWeight +
      (children.length + repeated.length > 0 ? painting.effects * groupWeight : 0) +
      dashWeight(attributes, this.#period);
    part.cost = { weight, elements, points };
    return part.cost;
  }

  #surface(part: Part, isInClip: boolean): number {
    if (part.name === 'filter') return filterWeight(part, this.#side);
    return part.name === 'mask' || isInClip ? surfaceWeight : 0;
  }
}
