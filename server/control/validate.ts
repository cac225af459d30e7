import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bareHostRule } from './hosts.ts';
import {
  type CreateProjectInput,
  createProjectSchema,
  type DomainInput,
  domainSchema,
  type PrewarmInput,
  type ProjectSettingsInput,
  prewarmSchema,
  projectSettingsSchema,
} from './schemas.ts';

/** The most faults that are listed; a hostile body can have thousands. */
export const maxFaults = 20;

/** OpenAPI 3.1 has the same dialect, so that one schema serves both. */
const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false });
formats.default(ajv, ['uri', 'date-time']);
ajv.addKeyword('x-rule');

const validators = {
  CreateProjectInput: ajv.compile<CreateProjectInput>(createProjectSchema),
  ProjectSettingsInput: ajv.compile<ProjectSettingsInput>(projectSettingsSchema),
  PrewarmInput: ajv.compile<PrewarmInput>(prewarmSchema),
  DomainInput: ajv.compile<DomainInput>(domainSchema),
};

export type InputName = keyof typeof validators;
export type Input<N extends InputName> =
  (typeof validators)[N] extends ValidateFunction<infer T> ? T : never;

/** The faults of a body, such as `maxWidth must be <= 10000`. Empty when it is valid. */
export function faultsOf(name: InputName, body: unknown): string[] {
  const validate = validators[name];
  if (validate(body)) return [];
  // The operations check hosts, by the whole rule and with the faults that a schema cannot state.
  const errors = (validate.errors ?? []).filter(
    ({ keyword, parentSchema }) =>
      keyword !== 'pattern' || parentSchema?.['x-rule'] !== bareHostRule,
  );
  // An anyOf is described by its `x-rule`; the errors of its branches would only confuse.
  const anyOfPaths = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.schemaPath);
  return [
    ...new Set(
      errors
        .filter((error) => !anyOfPaths.some((path) => error.schemaPath.startsWith(`${path}/`)))
        .map(describe),
    ),
  ].slice(0, maxFaults);
}

/** `/sources/0` as `sources[0]`. */
function fieldOf(instancePath: string): string {
  return instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}

function describe(error: ErrorObject): string {
  const field = fieldOf(error.instancePath);
  const subject = field === '' ? 'the body' : field;
  const within = field === '' ? '' : `${field}.`;
  switch (error.keyword) {
    case 'required':
      return `${within}${error.params['missingProperty']} is required`;
    case 'additionalProperties':
      return `${within}${String(error.params['additionalProperty']).slice(0, 80).toWellFormed()} is not a known field`;
    case 'minProperties':
      return `${subject} must have at least one property`;
    case 'enum':
      return `${subject} must be one of ${error.params['allowedValues'].join(', ')}`;
    case 'format':
      return `${subject} must be a URI`;
    case 'anyOf':
      return `${subject} ${error.parentSchema?.['x-rule'] ?? error.message}`;
    default:
      return `${subject} ${error.message}`;
  }
}
