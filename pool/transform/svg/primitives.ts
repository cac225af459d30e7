import type { SvgElement } from './document.ts';

/** What a filter costs wherever it is applied. */
export interface FilterCost {
  /** ms of one core for each megapixel. */
  readonly work: number;
  /** Results of the output's size that are kept until the filter is done. */
  readonly surfaces: number;
}

/**
 * ms for each megapixel, measured with librsvg 2.63 on a core that renders 88 photographs of 6
 * megapixels to 800 px in a second. What is not listed costs as much as `other`.
 */
const weights = {
  feFlood: 15,
  feOffset: 20,
  feTile: 20,
  feMerge: 20,
  feMergeNode: 35,
  feBlend: 80,
  feColorMatrix: 80,
  feComponentTransfer: 80,
  feComposite: 80,
  feGaussianBlur: 200,
  feDropShadow: 200,
  feDiffuseLighting: 200,
  feSpecularLighting: 200,
  feDisplacementMap: 800,
  // At the largest radius that is drawn, 10 pixels of the output: the scale is not known here.
  feMorphology: 4300,
  other: 100,
};

/** `feTurbulence`, and for each octave of it; the decoder draws no more than nine. */
const turbulence = { base: 60, octave: 75, maxOctaves: 9 };

/** `feConvolveMatrix`, and for each number of its kernel. */
const convolution = { base: 70, cell: 12.5 };

/** Results that a primitive makes; all others make one. */
const results: ReadonlyMap<string, number> = new Map([['feDropShadow', 5]]);

/** The layer that is filtered, and what the filter makes of it, in any case. */
export const application: FilterCost = { work: 15, surfaces: 1 };

/** `blur()` and its like; `drop-shadow()` is the one that costs most. */
export const filterFunction: FilterCost = { work: weights.feDropShadow, surfaces: 5 };

/** The cost of a `filter` element's own primitives. */
export function filterCost({ children }: SvgElement): FilterCost {
  let work = 0;
  let surfaces = 0;
  for (const primitive of children) {
    if (!primitive.name.startsWith('fe')) continue;
    work += workOf(primitive);
    surfaces += results.get(primitive.name) ?? 1;
  }
  return { work, surfaces };
}

function workOf({ name, attributes, children }: SvgElement): number {
  switch (name) {
    case 'feTurbulence': {
      const octaves = Number.parseInt(attributes.get('numOctaves') ?? '1', 10);
      // For what is no number the decoder may keep any value.
      const drawn = octaves >= 0 ? Math.min(octaves, turbulence.maxOctaves) : turbulence.maxOctaves;
      return turbulence.base + turbulence.octave * drawn;
    }
    case 'feConvolveMatrix': {
      const cells = attributes.get('kernelMatrix')?.match(/[^\s,]+/g)?.length ?? 0;
      return convolution.base + convolution.cell * cells;
    }
    case 'feMerge':
      return weights.feMerge + weights.feMergeNode * children.length;
    default:
      return weights[name as keyof typeof weights] ?? weights.other;
  }
}
