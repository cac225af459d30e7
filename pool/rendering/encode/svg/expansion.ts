import { animations } from './allowed.ts';
import { filterWeight } from './filter-weight.ts';
import { numbersIn } from './outline.ts';
import {
  clipWeight,
  countSelectors,
  isTooLong,
  joined,
  noPainting,
  type Painting,
  paintingOfAnimation,
  paintingOfAttributes,
  possibleIds,
  readPaintRules,
} from './references.ts';
import { computeElementWeight, countPoints, dashWeight } from './shape-weight.ts';
import { worstStroke } from './stroke.ts';

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
  /** Includes the ancestors' paints, markers and strokes, and style sheets' paints, once counted. */
  painting: Painting;
  readonly isInClip: boolean;
  /** Characters of the element's own text. */
  characters: number;
  /** Undefined before the count; null during it. */
  cost: Cost | null | undefined;
  /** Without the elements in and repeated by it; undefined before the count. */
  ownCost: Cost | undefined;
}

interface Cost {
  /** The weights of all elements that a browser draws for this element. */
  readonly weight: number;
  readonly elements: number;
  /** Points that can draw markers. */
  readonly points: number;
}

const nothing: Cost = { weight: 0, elements: 0, points: 0 };
const infinite: Cost = { weight: Number.POSITIVE_INFINITY, elements: 1, points: 0 };

/** Longest chain of elements within and repeated by elements; longer chains count as endless. */
const maxChain = 1_000;

/** Maximum elements to count again because of circles; more count as endless. */
const maxVisits = 100_000;

/** Elements that a browser draws only where another element refers to them. */
const definitions: ReadonlySet<string> = new Set([
  'clipPath',
  'defs',
  'filter',
  'linearGradient',
  'marker',
  'mask',
  'pattern',
  'radialGradient',
  'symbol',
]);

/** The weight per megapixel of a surface, such as a mask. */
const surfaceWeight = 5_000;
const groupWeight = 800;

/** A browser draws an animation again per frame. */
const animationFactor = 10;

/** Style sheet selectors that a browser checks per weight. */
const checksPerWeight = 50;

/** Elements whose `href` repeats an element. */
const repeating: ReadonlySet<string> = new Set([
  'feImage',
  'linearGradient',
  'pattern',
  'radialGradient',
  'textPath',
  'use',
]);

const added = (a: Cost, b: Cost): Cost => ({
  weight: a.weight + b.weight,
  elements: a.elements + b.elements,
  points: a.points + b.points,
});

/**
 * Counts everything that a browser draws for a document. `use`, patterns, markers, masks, clips and
 * filters repeat other elements, so a few hundred bytes can expand to billions.
 */
export class Expansion {
  /** In document order. */
  readonly #parts: Part[] = [];
  /** The first element with an id counts, as in browsers. */
  readonly #byId = new Map<string, Part>();
  /** The drawing's longer side in its own units. */
  readonly #side: number;
  #viewport = 0;
  #hasMarkers = false;
  readonly #isAnimated: boolean;
  #isCircular = false;
  /** Elements counted since the first circle. */
  #visits = 0;
  readonly #animations: { readonly parent: Part | undefined; readonly part: Part }[] = [];
  readonly #filterWeights = new Map<Part, number>();

  /** @param isAnimated whether an image has several frames */
  constructor(side: number, isAnimated: boolean) {
    this.#side = side;
    this.#isAnimated = isAnimated;
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
      characters: 0,
      cost: undefined,
      ownCost: undefined,
    };
    if (animations.has(name)) this.#animations.push({ parent, part });
    parent?.children.push(part);
    this.#parts.push(part);
    const id = attributes.get('id');
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, part);
    return part;
  }

  /** Gives animations to their targets. */
  #animate(): void {
    for (const { parent, part } of this.#animations) {
      const href = part.attributes.get('href');
      const targets = href === undefined ? [parent] : this.#findParts(possibleIds(href.slice(1)));
      const painting = paintingOfAnimation(part.attributes);
      for (const target of targets) {
        if (target === undefined) continue;
        target.painting = joined([target.painting, painting]);
        if (href !== undefined) target.children.push(part);
      }
    }
  }

  /** Returns the longest side of a viewport, in its own coordinates; infinite if unknown. */
  #findViewport(): number {
    let longest = this.#side;
    for (const { name, attributes, painting } of this.#parts.slice(1)) {
      longest = Math.max(longest, ...numbersIn(attributes.get('viewBox') ?? '').slice(2, 4));
      const isAnimated = attributes.get('attributeName')?.trim() === 'viewBox';
      const isViewport = name === 'svg' || name === 'symbol' || name === 'use';
      if (isAnimated || (isViewport && painting.share > 2)) return Number.POSITIVE_INFINITY;
      if (isViewport) longest = Math.max(longest, painting.length);
    }
    return longest;
  }

  /**
   * The weight of the drawing; infinite for a chain that is too long.
   *
   * @param sheets the style sheets of the result
   */
  weight(sheets: string): number {
    const [root] = this.#parts;
    if (root === undefined) return 0;
    this.#animate();
    if (!this.#style(sheets) || !this.#inherit()) return Number.POSITIVE_INFINITY;
    this.#viewport = this.#findViewport();
    this.#hasMarkers = this.#parts.some(({ painting }) => painting.markers.length > 0);
    const { weight, elements } = this.#cost(root, 0);
    const isAnimated = this.#isAnimated || this.#animations.length > 0 || /keyframes/i.test(sheets);
    return (
      weight * (isAnimated ? animationFactor : 1) +
      (elements * countSelectors(sheets)) / checksPerWeight
    );
  }

  /** Returns false for a list that is too long. */
  #style(sheets: string): boolean {
    const rules = readPaintRules(sheets);
    const all = joined(rules.flatMap(({ names, painting }) => (names === null ? painting : [])));
    const byName = new Map<string, Painting>();
    for (const { names, painting } of rules) {
      for (const name of names ?? []) {
        byName.set(name, joined([byName.get(name) ?? noPainting, painting]));
      }
    }
    for (const part of this.#parts) {
      const id = part.attributes.get('id');
      const names = [part.name, `#${id}`, ...part.classes.map((name) => `.${name}`)];
      const styled = names.flatMap((name) => byName.get(name) ?? []);
      part.painting = joined([part.painting, all, ...styled]);
      if (isTooLong(part.painting)) return false;
    }
    return true;
  }

  /** Returns false for a list that is too long. */
  #inherit(): boolean {
    for (const { painting, children } of this.#parts) {
      const { paints, markers, stroke } = painting;
      const isPlain = paints.length + markers.length === 0 && stroke === noPainting.stroke;
      for (const child of isPlain ? [] : children) {
        // An animation draws its paths with its target's stroke.
        const inherited = animations.has(child.name) ? { stroke } : { paints, markers, stroke };
        child.painting = joined([child.painting, { ...noPainting, ...inherited }]);
        if (isTooLong(child.painting)) return false;
      }
    }
    // A `use` gives its stroke to all that it repeats.
    const uses = this.#parts.filter(({ name }) => name === 'use');
    const repeated = worstStroke(uses.map(({ painting }) => painting.stroke));
    for (const part of this.#parts) {
      part.painting = { ...part.painting, stroke: worstStroke([part.painting.stroke, repeated]) };
    }
    return true;
  }

  #findParts(ids: readonly string[]): Part[] {
    return [...new Set(ids)].flatMap((id) => this.#byId.get(id) ?? []);
  }

  #cost(part: Part, chain: number): Cost {
    // Browsers ignore an element that repeats itself.
    if (part.cost === null) {
      this.#isCircular = true;
      return nothing;
    }
    if (part.cost !== undefined) return part.cost;
    if (this.#isCircular) this.#visits += 1;
    if (chain > maxChain || this.#visits > maxVisits) return infinite;
    part.cost = null;
    const sum = (parts: readonly Part[]): Cost =>
      parts.map((repeat) => this.#cost(repeat, chain + 1)).reduce(added, nothing);
    const { name, attributes, children, painting, isInClip } = part;
    const href = attributes.get('href') ?? '';
    const repeated =
      repeating.has(name) && href.startsWith('#')
        ? this.#findParts(possibleIds(href.slice(1)))
        : [];
    const drawn = sum([...children.filter((child) => !definitions.has(child.name)), ...repeated]);
    const own = this.#ownCost(part);
    const elements = own.elements + drawn.elements;
    const points = own.points + drawn.points;
    const surfaces = this.#findParts(painting.surfaces);
    // A `use` gives its paints and markers to all that it repeats.
    const isUse = name === 'use';
    const weight =
      own.weight +
      drawn.weight +
      (isUse ? elements : 1) * sum(this.#findParts(painting.paints)).weight +
      (isUse ? points + elements : points) * sum(this.#findParts(painting.markers)).weight +
      sum(surfaces).weight +
      surfaces.reduce((total, surfacePart) => total + this.#surface(surfacePart, isInClip), 0) +
      painting.passes +
      (children.length + repeated.length > 0 ? painting.effects * groupWeight : 0);
    const cost = { weight, elements, points };
    // In a circle the cost depends on the first counted element.
    part.cost = this.#isCircular ? undefined : cost;
    return cost;
  }

  /** Reads a path only once, even if a circle makes its users count again. */
  #ownCost(part: Part): Cost {
    part.ownCost ??= {
      weight:
        computeElementWeight(part) +
        dashWeight(part, { side: this.#side, viewport: this.#viewport }),
      elements: 1,
      points: this.#hasMarkers ? countPoints(part) : 0,
    };
    return part.ownCost;
  }

  #surface(part: Part, isInClip: boolean): number {
    if (part.name !== 'filter') {
      return part.name === 'mask' || isInClip ? surfaceWeight : clipWeight;
    }
    const weight = this.#filterWeights.get(part) ?? filterWeight(part, this.#side);
    this.#filterWeights.set(part, weight);
    return weight;
  }
}
