import { numbersIn } from './outline.ts';

interface FilterElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly FilterElement[];
}

/** The elements that take as long as a primitive of a filter on a page of a megapixel. */
const weights: Readonly<Record<string, number>> = {
  feTurbulence: 50_000,
  feDiffuseLighting: 15_000,
  feSpecularLighting: 15_000,
  feConvolveMatrix: 10_000,
  feDisplacementMap: 5_000,
  feMorphology: 100_000,
  feGaussianBlur: 5_000,
  feDropShadow: 5_000,
};
export const functionWeight = 5_000;
const otherWeight = 1_000;

/**
 * Maximum filter region and blur, as a multiple of the drawing's or the filtered element's side.
 */
const largestShare = 10;

const inputs = ['in', 'in2'] as const;

/** Returns a filter's weight: each primitive draws its inputs again. */
export function filterWeight(filter: FilterElement, side: number): number {
  const byResult = new Map<string, number>();
  let last = 0;
  for (const primitive of filter.children) {
    const { name, attributes, children } = primitive;
    if (!name.startsWith('fe')) continue;
    const used = name === 'feMerge' ? children : [primitive];
    let weight = weights[name] ?? otherWeight;
    for (const drawn of used) {
      const named = inputs.flatMap((input) => drawn.attributes.get(input)?.trim() ?? []);
      if (named.length === 0) weight += last;
      for (const result of named) weight += byResult.get(result) ?? 0;
    }
    last =
      weight * computeReach(attributes.get('stdDeviation') ?? attributes.get('radius') ?? '', side);
    const result = attributes.get('result')?.trim();
    if (result !== undefined) byResult.set(result, last);
  }
  return last * computeRegion(filter, side);
}

/** Returns how much more than the drawing a blur reads. */
function computeReach(deviation: string, side: number): number {
  const largest = Math.max(0, ...numbersIn(deviation).slice(0, 2).map(Math.abs));
  return Math.max(1, (largest / side) * largestShare) ** 2;
}

/** Returns a filter's region as a multiple of ordinary drawings' largest. */
function computeRegion({ attributes }: FilterElement, side: number): number {
  const isOfUser = attributes.get('filterUnits') === 'userSpaceOnUse';
  return ['width', 'height'].reduce((area, name) => {
    const text = attributes.get(name) ?? '';
    const [length = 1] = numbersIn(text);
    const share = text.includes('%') ? length / 100 : length / (isOfUser ? side : 1);
    return area * Math.max(1, share / largestShare);
  }, 1);
}
