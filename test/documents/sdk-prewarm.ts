import { maxVariantCharacters } from '../../server/control/prewarm-variants.ts';
import { bodySchemas } from '../../server/control/schemas.ts';
import { parameterNames } from '../../server/image/parameters.ts';

/** What a prewarm request can name, for the client that derives requests from image URLs. */
export function prewarmModule(): string {
  const { variants } = bodySchemas.PrewarmInput.properties;
  return `/** The parameters of a variant; the service ignores others in image URLs. */
  export const variantNames: readonly string[] = ${JSON.stringify(parameterNames)};

  /** The most variants of a request. */
  export const maxVariants = ${variants.maxItems};

  /** The most characters of all variants of a request as JSON. */
  export const maxVariantCharacters = ${maxVariantCharacters};`;
}
