import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bareHostRule } from './hosts-and-urls.ts';
import { ruledSchema } from './image-parameters.ts';
import { layerFieldsSchema, ruledLayerField } from './layer-input.ts';
import { presetParametersSchema } from './preset-input.ts';
import { prewarmVariantSchema } from './prewarm-variants.ts';
import {
  type Body,
  bodySchemas,
  type LayerInput,
  layerInputSchema,
  type PresetInput,
  presetInputSchema,
  prewarmInputSchema,
} from './schemas.ts';
import { errorMessage, maxErrors } from './validation-messages.ts';

/** The dialect of OpenAPI 3.1. */
const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false });
formats.default(ajv, ['uri', 'date-time', 'date']);
ajv.addKeyword('x-rule');

const validators = {
  CreateProjectInput: ajv.compile<Body<'CreateProjectInput'>>(bodySchemas.CreateProjectInput),
  ProjectSettingsInput: ajv.compile<Body<'ProjectSettingsInput'>>(bodySchemas.ProjectSettingsInput),
  PrewarmInput: ajv.compile<Body<'PrewarmInput'>>(
    prewarmInputSchema(prewarmVariantSchema(ruledSchema)),
  ),
  PurgeInput: ajv.compile<Body<'PurgeInput'>>(bodySchemas.PurgeInput),
  FreshnessInput: ajv.compile<Body<'FreshnessInput'>>(bodySchemas.FreshnessInput),
  ProjectOriginInput: ajv.compile<Body<'ProjectOriginInput'>>(bodySchemas.ProjectOriginInput),
  LimitsInput: ajv.compile<Body<'LimitsInput'>>(bodySchemas.LimitsInput),
  DomainInput: ajv.compile<Body<'DomainInput'>>(bodySchemas.DomainInput),
  PresetInput: ajv.compile<PresetInput>(presetInputSchema(presetParametersSchema(ruledSchema))),
  LayerInput: ajv.compile<LayerInput>(
    layerInputSchema({
      image: layerFieldsSchema('image', ruledLayerField),
      text: layerFieldsSchema('text', ruledLayerField),
    }),
  ),
};

export type InputName = keyof typeof validators;
export type Input<N extends InputName> =
  (typeof validators)[N] extends ValidateFunction<infer T> ? T : never;

/** Bodies with secrets, whose values are not in errors. */
const secretInputs: readonly InputName[] = ['ProjectOriginInput'];
const withoutValue = (message: string): string => message.replace(/, and (?:is|has) .*$/s, '');

/** The errors of a body, such as `name is required`; empty when it is valid. */
export function validationErrors(name: InputName, body: unknown): string[] {
  const validate = validators[name];
  if (validate(body)) return [];
  // The operations check hosts completely, with errors that a schema cannot state.
  const errors = (validate.errors ?? []).filter(
    ({ keyword, parentSchema }) =>
      keyword !== 'pattern' || parentSchema?.['x-rule'] !== bareHostRule,
  );
  // An anyOf is described by its `x-rule`, not by the errors of its branches.
  const anyOfPaths = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.schemaPath);
  return [
    ...new Set(
      errors
        .filter((error) => !anyOfPaths.some((path) => error.schemaPath.startsWith(`${path}/`)))
        .map(errorMessage)
        .map((message) => (secretInputs.includes(name) ? withoutValue(message) : message)),
    ),
  ].slice(0, maxErrors);
}
