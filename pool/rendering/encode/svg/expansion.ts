export interface Part {
  elements: number;
  readonly children: Part[];
  /** Ids in `use` elements. */
  readonly uses: string[];
  /** Elements with all repetitions; null during the count. */
  expanded?: number | null;
}

const newPart = (): Part => ({ elements: 0, children: [], uses: [] });

/** Longest chain of parts within parts; longer chains count as endless. */
const maxChain = 500;

/**
 * Counts the elements that a browser draws for a document. Each `use` repeats the part that it
 * names, so a few hundred bytes can expand to billions of elements.
 */
export class Expansion {
  readonly #root = newPart();
  /** The first part with an id counts, as in browsers. */
  readonly #byId = new Map<string, Part>();

  /** Adds an element to a part. Returns the part for its children: a new part for an id. */
  add(part: Part | undefined, id: string | undefined, used: readonly string[]): Part {
    const parent = part ?? this.#root;
    const own = id === undefined ? parent : newPart();
    if (own !== parent) parent.children.push(own);
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, own);
    own.elements += 1;
    own.uses.push(...used);
    return own;
  }

  /** Elements with all repetitions; infinite for a chain that is too long. */
  get elements(): number {
    return this.#count(this.#root, 0);
  }

  #count(part: Part, chain: number): number {
    // Browsers ignore a part that repeats itself.
    if (part.expanded === null) return 0;
    if (part.expanded !== undefined) return part.expanded;
    if (chain > maxChain) return Number.POSITIVE_INFINITY;
    part.expanded = null;
    const repeated = part.uses.flatMap((id) => this.#byId.get(id) ?? []);
    let elements = part.elements;
    for (const one of [...part.children, ...repeated]) elements += this.#count(one, chain + 1);
    part.expanded = elements;
    return elements;
  }
}
