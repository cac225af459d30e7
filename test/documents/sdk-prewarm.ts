import { maxVariantCharacters } from '../../server/control/resources/prewarm-variants.ts';
import { maxVariants } from '../../server/control/resources/prewarms.ts';
import { parameterNames } from '../../server/image/parameters.ts';

/** What a prewarm request can name, for the client that derives requests from image URLs. */
export function prewarmModule(): string {
  return `/** The parameters of a variant; the service ignores others in image URLs. */
  export const variantNames: readonly string[] = ${JSON.stringify(parameterNames)};

  /** The most variants of a request. */
  export const maxVariants = ${maxVariants};

  /** The most characters of all variants of a request as JSON. */
  export const maxVariantCharacters = ${maxVariantCharacters};`;
}
