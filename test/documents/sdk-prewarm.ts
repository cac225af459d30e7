import { maxVariantCharacters } from '../../server/control/resources/prewarm-variants.ts';
import { maxVariants } from '../../server/control/resources/prewarms.ts';
import { parameterNames } from '../../server/image/parameters.ts';

/**
 * Returns the limits of a prewarm request, for the client that derives requests from image URLs.
 */
export function prewarmModule(): string {
  return `/** Parameters of a variant. The service ignores others in image URLs. */
  export const variantNames: readonly string[] = ${JSON.stringify(parameterNames)};

  /** Maximum number of variants in a request. */
  export const maxVariants = ${maxVariants};

  /** Maximum number of characters in all variants of a request as JSON. */
  export const maxVariantCharacters = ${maxVariantCharacters};`;
}
