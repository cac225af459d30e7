import type { PresetParameters } from '../../../store/preset.ts';
import type { Project } from '../../../store/projects.ts';
import { findLayer } from '../../image/layers.ts';
import { type ParameterName, parameterNames, parameters } from '../../image/parameters.ts';
import { presetOptions, withPreset } from '../../image/resolve-variant.ts';
import { toText } from '../../image/values.ts';
import { parameterFields, valueErrors } from '../image-schemas.ts';

/** Maximum length of all variants as JSON, because each job of the request contains them. */
export const maxVariantCharacters = 8_192;

/** Returns a variant's schema: image URL parameters as JSON values. */
export const prewarmVariantSchema = (toSchema: (name: ParameterName) => object) =>
  ({
    type: 'object',
    description:
      'Image URL parameters by canonical name. `dpr` is a number because prewarming has no client hints.',
    properties: parameterFields(parameterNames, (name) =>
      name === 'dpr' ? { type: 'number', minimum: 1, maximum: 3 } : toSchema(name),
    ),
    additionalProperties: false,
  }) as const;

/** Prewarm request fields that variants replace. */
export const replacedByVariants = ['widths', 'formats', 'quality', 'fit', 'dpr'] as const;

/** Returns, in words, the errors in variants that the schema cannot find. */
export function variantErrors(variants: readonly PresetParameters[]): string[] {
  if (JSON.stringify(variants).length > maxVariantCharacters) {
    return [`variants must have at most ${maxVariantCharacters} characters as JSON`];
  }
  return variants.flatMap((variant, index) =>
    valueErrors(variant, `variants[${index}]`, parameters),
  );
}

/**
 * Returns the errors of a variant with valid values, including its preset's.
 * @param urlError the rule that a URL breaks, or null
 * @throws ServiceError preset_not_found, layer_not_found
 */
export function optionErrors(
  variant: PresetParameters,
  subject: string,
  project: Project,
  urlError: (url: URL) => string | null,
): string[] {
  const { dpr, fallback, layer = [] } = withPreset(presetOptions(variant), project);
  for (const name of layer) findLayer(project, name);
  const error = fallback === undefined ? null : urlError(new URL(fallback));
  return [
    ...(dpr === 'auto' ? [`${subject}.dpr must be a number: prewarming has no client hints`] : []),
    ...(error === null ? [] : [`${subject}.fallback ${error}`]),
  ];
}

/** Returns the parameters of a variant's URL as a query, the same for equal parameters. */
export function variantQuery(variant: PresetParameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(variant)) query.set(name, toText(value));
  query.sort();
  return query.toString();
}
