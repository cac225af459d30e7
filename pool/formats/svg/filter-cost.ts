import type { SvgElement } from './document.ts';

/** Upper bound of the cost to rasterise an SVG or a part of it, relative to the output's size. */
export interface SvgCost {
  /** CPU time of filters and masks, in ms per megapixel. */
  readonly work: number;
  /** Concurrent surfaces of the output's size, without the output itself. */
  readonly surfaces: number;
}

/**
 * CPU time in ms per megapixel, measured with librsvg 2.63 on a core that resizes 88 photographs of
 * 6 megapixels to 800 px per second.
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
  // For the maximum radius, 10 pixels of the output, because the scale is unknown here.
  feMorphology: 4300,
  // Unlisted elements.
  other: 100,
};

/** `feTurbulence`: a base cost, and a cost per octave; librsvg renders at most nine octaves. */
const turbulence = { base: 60, octave: 75, maxOctaves: 9 };

/** `feConvolveMatrix`: a base cost, and a cost per cell of its kernel. */
const convolution = { base: 70, cell: 12.5 };

/** All other primitives have one surface. */
const shadowSurfaces = 5;

/** The cost of applying any filter: the filtered layer and the result. */
export const application: SvgCost = { work: 15, surfaces: 1 };

/** `blur()` and other filter functions; the most expensive one is `drop-shadow()`. */
export const filterFunction: SvgCost = { work: weights.feDropShadow, surfaces: shadowSurfaces };

/** The cost of a `filter` element's own primitives. */
export function filterCost({ children }: SvgElement): SvgCost {
  let work = 0;
  let surfaces = 0;
  for (const primitive of children) {
    if (!primitive.name.startsWith('fe')) continue;
    work += workOf(primitive);
    surfaces += primitive.name === 'feDropShadow' ? shadowSurfaces : 1;
  }
  return { work, surfaces };
}

function workOf({ name, attributes, children }: SvgElement): number {
  switch (name) {
    case 'feTurbulence': {
      const octaves = Number.parseInt(attributes.get('numOctaves') ?? '1', 10);
      // Assume the maximum for an invalid number, because librsvg's value is then unspecified.
      const { base, octave, maxOctaves } = turbulence;
      return base + octave * (octaves >= 0 ? Math.min(octaves, maxOctaves) : maxOctaves);
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
