import { ServiceError } from '../../../contract/errors.ts';
import type { Effect } from './declarations.ts';
import { type SvgDocument, type SvgElement, unsupported } from './document.ts';
import { referringElements } from './embedded.ts';
import { application, filterCost, filterFunction } from './primitives.ts';
import { Styles } from './styles.ts';

/** What drawing an element costs, with all that it holds and refers to; upper bounds. */
interface Cost {
  /** Elements that are drawn, each as often as it is referred to. */
  readonly elements: number;
  /** Of their paths; a marker may be drawn at each. */
  readonly vertices: number;
  /** ms of one core for each megapixel of the output, for filters and masks. */
  readonly work: number;
  /** Surfaces of the output's size that are needed at one time. */
  readonly surfaces: number;
}

const nothing: Cost = { elements: 0, vertices: 0, work: 0, surfaces: 0 };

/** Elements that references may add to those of the document; librsvg stops at 500,000 references. */
const maxRepeated = 200_000;

/** Elements in elements and references that lead from one to the next, which takes stack. */
const maxSteps = 500;

/** More than any document has elements. */
const maxCounts = 2_000_000;

/** A mask is drawn, and laid on a copy of what it masks. */
const masking = { work: 10, surfaces: 2 };

const oneSurface = { work: 0, surfaces: 1 };

/** Elements that are drawn where they are referred to, and not where they stand. */
const definitions: ReadonlySet<string> = new Set([
  ...['defs', 'symbol', 'clipPath', 'mask', 'pattern', 'marker', 'filter', 'metadata', 'style'],
  ...['linearGradient', 'radialGradient'],
]);

/** Definitions that are only drawn for the properties of other elements. */
const servers: ReadonlySet<string> = new Set(['clipPath', 'mask', 'pattern', 'marker', 'filter']);

/** Whose drawing costs next to nothing. */
const gradients: ReadonlySet<string> = new Set(['linearGradient', 'radialGradient']);

/**
 * Counts what it takes to draw a document whose elements refer to each other: a few lines of `use`,
 * `pattern` or `marker` can ask for millions of elements, each with a filter.
 *
 * @throws ServiceError source_too_large, source_unsupported
 */
export function costOf(document: SvgDocument): Pick<Cost, 'work' | 'surfaces'> {
  const cost = new Costs(document).of(document.root, 0);
  if (cost.elements <= document.elements.length + maxRepeated) return cost;
  throw new ServiceError('source_too_large', 'The SVG repeats its elements too often.');
}

class Costs {
  readonly #document: SvgDocument;
  readonly #styles: Styles;
  readonly #hasMarkers: boolean;
  /** Null while an element is being counted. */
  readonly #known = new Map<SvgElement, Cost | null>();
  /** Elements that were counted, some of them more than once. */
  #counts = 0;
  /** References that were left out since they are circular. */
  #omitted = 0;

  constructor(document: SvgDocument) {
    this.#document = document;
    this.#styles = new Styles(document);
    this.#hasMarkers = document.elements.some(({ name }) => name === 'marker');
  }

  /** The cost of an element where it is drawn, whether it stands there or is referred to. */
  of(element: SvgElement, steps: number): Cost {
    const known = this.#known.get(element);
    if (known === null) throw circular();
    if (known !== undefined) return known;
    if (steps > maxSteps) throw unsupported('The SVG has references that lead on too far.');
    if (this.#counts === maxCounts) throw circular();
    this.#counts += 1;
    this.#known.set(element, null);
    const omitted = this.#omitted;
    const cost = this.#count(element, steps + 1);
    // A count that left something out holds for this way to the element alone.
    if (this.#omitted > omitted) this.#known.delete(element);
    else this.#known.set(element, cost);
    return cost;
  }

  #count(element: SvgElement, steps: number): Cost {
    // What a filter consists of is not drawn, whatever a style sheet says of it.
    const drawn = element.name !== 'filter' && !element.name.startsWith('fe');
    const effects = drawn ? this.#styles.effectsOf(element) : [];
    const having = (property: Effect['property']) =>
      effects.filter((effect) => effect.property === property);
    const parts = element.children
      .filter(({ name }) => !definitions.has(name))
      .map((child) => this.of(child, steps));
    if (referringElements.has(element.name) || element.name === 'feImage') {
      for (const href of element.hrefs) {
        if (href.startsWith('#')) parts.push(this.#referred(href.slice(1), steps));
      }
    }
    const vertices = this.#hasMarkers ? verticesOf(element) : 0;
    let cost: Cost = parts.reduce(beside, { ...nothing, elements: 1, vertices });
    // Markers and paints are inherited, and may be drawn for all that the element holds.
    for (const { id } of having('marker')) {
      cost = beside(cost, times(this.#referred(id, steps), cost.vertices));
    }
    for (const { id } of having('paint')) {
      cost = beside(cost, under(times(this.#referred(id, steps), cost.elements), oneSurface));
    }
    const layered = [
      ...having('filter').map(({ id }) => this.#filter(id, steps)),
      ...having('mask').map(({ id }) => under(this.#referred(id, steps), masking)),
    ];
    cost = [...layered, ...having('clip-path').map(({ id }) => this.#referred(id, steps))].reduce(
      beside,
      cost,
    );
    const isLayer = layered.length > 0 || effects.some((effect) => this.#makesLayer(effect));
    return isLayer ? under(cost, oneSurface) : cost;
  }

  #makesLayer({ property, id }: Effect): boolean {
    if (property !== 'clip-path') return property === 'layer';
    const units = this.#document.byId.get(id ?? '')?.attributes.get('clipPathUnits');
    return units === 'objectBoundingBox';
  }

  #filter(id: string | null, steps: number): Cost {
    if (id === null) return under(nothing, filterFunction);
    const filter = this.#document.byId.get(id);
    if (filter === undefined) return nothing;
    const { work, surfaces } = filterCost(filter);
    return under(this.#referred(id, steps), {
      work: application.work + work,
      surfaces: application.surfaces + surfaces,
    });
  }

  #referred(id: string | null, steps: number): Cost {
    const element = this.#document.byId.get(id ?? '');
    if (element === undefined || gradients.has(element.name)) return nothing;
    // The decoder does not draw these inside of themselves, where a style sheet may well put them.
    if (servers.has(element.name) && this.#known.get(element) === null) {
      this.#omitted += 1;
      return nothing;
    }
    return this.of(element, steps);
  }
}

function circular() {
  return unsupported('The SVG has elements that refer to themselves.');
}

/** Of what is drawn one after the other. */
function beside(one: Cost, other: Cost): Cost {
  return {
    elements: one.elements + other.elements,
    vertices: one.vertices + other.vertices,
    work: one.work + other.work,
    surfaces: Math.max(one.surfaces, other.surfaces),
  };
}

/** Of what is drawn while something else holds surfaces. */
function under(cost: Cost, { work, surfaces }: Pick<Cost, 'work' | 'surfaces'>): Cost {
  return { ...cost, work: cost.work + work, surfaces: cost.surfaces + surfaces };
}

function times(cost: Cost, count: number): Cost {
  const { elements, vertices, work, surfaces } = cost;
  return { elements: elements * count, vertices: vertices * count, work: work * count, surfaces };
}

/** At most: each vertex takes a number at least, but for the one that closes a path. */
function verticesOf({ name, attributes }: SvgElement): number {
  if (name === 'line') return 2;
  const path = attributes.get('d') ?? attributes.get('points');
  return path?.match(/\d*\.\d+|\d+|z/gi)?.length ?? 0;
}
