import { tooLarge, unsupported } from '../errors.ts';
import type { StyleEffect } from './declarations.ts';
import type { SvgDocument, SvgElement } from './document.ts';
import { referringElements } from './embedded.ts';
import { application, filterCost, filterFunction, type SvgCost } from './filter-cost.ts';
import { Styles } from './styles.ts';

/** Upper bounds of the cost to render an element, with its descendants and references. */
interface ElementCost extends SvgCost {
  /** Rendered elements; an element counts once for each reference to it. */
  readonly elements: number;
  /** Vertices of their paths; a marker may be rendered at each vertex. */
  readonly vertices: number;
}

const nothing: ElementCost = { elements: 0, vertices: 0, work: 0, surfaces: 0 };

/** Elements that references may add to the document; librsvg stops at 500,000 references. */
const maxRepeated = 200_000;

/** Depth of nested elements and references, which bounds the stack. */
const maxReferenceDepth = 500;

/** Visits of elements; more than any document has elements. */
const maxVisits = 2_000_000;

/** A mask is rendered to a surface and applied to a copy of the masked content. */
const masking: SvgCost = { work: 10, surfaces: 2 };

const oneSurface: SvgCost = { work: 0, surfaces: 1 };

/** Definitions with negligible cost. */
const gradients: ReadonlySet<string> = new Set(['linearGradient', 'radialGradient']);

/** Definitions rendered only by properties of other elements. */
const propertyTargets = new Set(['clipPath', 'mask', 'pattern', 'marker', 'filter']);

/** Elements rendered only by reference, not at their position in the document. */
const definitions = new Set([
  ...gradients,
  ...propertyTargets,
  'defs',
  'symbol',
  'metadata',
  'style',
]);

/**
 * Computes the cost to render a document with references between elements: a few lines of `use`,
 * `pattern` or `marker` can render millions of elements, each with a filter.
 *
 * @throws ServiceError source_too_large, source_unsupported
 */
export function svgCostOf(document: SvgDocument): SvgCost {
  const { elements, work, surfaces } = new Costs(document).of(document.root, 0);
  if (elements <= document.elements.length + maxRepeated) return { work, surfaces };
  throw tooLarge('The SVG repeats its elements too often.');
}

class Costs {
  readonly #document: SvgDocument;
  readonly #styles: Styles;
  readonly #hasMarkers: boolean;
  /** Null while an element is being visited. */
  readonly #known = new Map<SvgElement, ElementCost | null>();
  /** Includes repeated visits of the same element. */
  #visits = 0;
  /** Circular references that were omitted. */
  #omitted = 0;

  constructor(document: SvgDocument) {
    this.#document = document;
    this.#styles = new Styles(document);
    this.#hasMarkers = document.elements.some(({ name }) => name === 'marker');
  }

  /** The cost of an element, whether it is rendered at its position or by reference. */
  of(element: SvgElement, depth: number): ElementCost {
    const known = this.#known.get(element);
    if (known === null) throw circular();
    if (known !== undefined) return known;
    if (depth > maxReferenceDepth) throw unsupported('The SVG has too deeply nested references.');
    if (this.#visits === maxVisits) throw circular();
    this.#visits += 1;
    this.#known.set(element, null);
    const omitted = this.#omitted;
    const cost = this.#count(element, depth + 1);
    // A cost with omitted references is valid only for this path of references.
    if (this.#omitted > omitted) this.#known.delete(element);
    else this.#known.set(element, cost);
    return cost;
  }

  #count(element: SvgElement, depth: number): ElementCost {
    // Filter primitives are not rendered as elements, even if a style sheet gives them effects.
    const rendered = element.name !== 'filter' && !element.name.startsWith('fe');
    const effects = rendered ? this.#styles.effectsOf(element) : [];
    const effectsOn = (property: StyleEffect['property']) =>
      effects.filter((effect) => effect.property === property);
    const parts = element.children
      .filter(({ name }) => !definitions.has(name))
      .map((child) => this.of(child, depth));
    if (referringElements.has(element.name) || element.name === 'feImage') {
      for (const href of element.hrefs) {
        if (href.startsWith('#')) parts.push(this.#referred(href.slice(1), depth));
      }
    }
    const vertices = this.#hasMarkers ? verticesOf(element) : 0;
    let cost: ElementCost = parts.reduce(inSequence, { ...nothing, elements: 1, vertices });
    // Markers and paints are inherited, and may be rendered for every descendant.
    for (const { id } of effectsOn('marker')) {
      cost = inSequence(cost, times(this.#referred(id, depth), cost.vertices));
    }
    for (const { id } of effectsOn('paint')) {
      const paint = times(this.#referred(id, depth), cost.elements);
      cost = inSequence(cost, withSurfaces(paint, oneSurface));
    }
    const layered = [
      ...effectsOn('filter').map(({ id }) => this.#filter(id, depth)),
      ...effectsOn('mask').map(({ id }) => withSurfaces(this.#referred(id, depth), masking)),
    ];
    const clips = effectsOn('clip-path').map(({ id }) => this.#referred(id, depth));
    cost = [...layered, ...clips].reduce(inSequence, cost);
    const isLayer = layered.length > 0 || effects.some((effect) => this.#makesLayer(effect));
    return isLayer ? withSurfaces(cost, oneSurface) : cost;
  }

  #makesLayer({ property, id }: StyleEffect): boolean {
    if (property !== 'clip-path') return property === 'layer';
    const units = this.#document.byId.get(id ?? '')?.attributes.get('clipPathUnits');
    return units === 'objectBoundingBox';
  }

  #filter(id: string | null, depth: number): ElementCost {
    if (id === null) return withSurfaces(nothing, filterFunction);
    const filter = this.#document.byId.get(id);
    if (filter === undefined) return nothing;
    const { work, surfaces } = filterCost(filter);
    return withSurfaces(this.#referred(id, depth), {
      work: application.work + work,
      surfaces: application.surfaces + surfaces,
    });
  }

  #referred(id: string | null, depth: number): ElementCost {
    const element = this.#document.byId.get(id ?? '');
    if (element === undefined || gradients.has(element.name)) return nothing;
    // librsvg does not render these recursively, but a style sheet may refer to them from inside.
    if (propertyTargets.has(element.name) && this.#known.get(element) === null) {
      this.#omitted += 1;
      return nothing;
    }
    return this.of(element, depth);
  }
}

const circular = () => unsupported('The SVG has elements that refer to themselves.');

/** The cost of rendering one after the other. */
function inSequence(one: ElementCost, other: ElementCost): ElementCost {
  return {
    elements: one.elements + other.elements,
    vertices: one.vertices + other.vertices,
    work: one.work + other.work,
    surfaces: Math.max(one.surfaces, other.surfaces),
  };
}

/** The cost of rendering while other surfaces are in use. */
function withSurfaces(cost: ElementCost, { work, surfaces }: SvgCost): ElementCost {
  return { ...cost, work: cost.work + work, surfaces: cost.surfaces + surfaces };
}

function times(cost: ElementCost, count: number): ElementCost {
  const { elements, vertices, work, surfaces } = cost;
  return { elements: elements * count, vertices: vertices * count, work: work * count, surfaces };
}

/** An upper bound: each vertex needs at least one number, except for the one that closes a path. */
function verticesOf({ name, attributes }: SvgElement): number {
  if (name === 'line') return 2;
  const path = attributes.get('d') ?? attributes.get('points');
  return path?.match(/\d*\.\d+|\d+|z/gi)?.length ?? 0;
}
