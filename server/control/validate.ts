import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bareHostRule } from './hosts-and-urls.ts';
import type { NamedSchema } from './schema.ts';
import { errorMessage, maxErrors, rejectInvalid } from './validation-messages.ts';

/** The dialect of OpenAPI 3.1. */
const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false });
formats.default(ajv, ['uri', 'date-time', 'date']);
ajv.addKeyword('x-rule');
ajv.addKeyword('x-aliases');

const pathOf = ({ instancePath }: { readonly instancePath: string }): string => instancePath;

const withoutValue = (message: string): string => message.replace(/, and (?:is|has) .*$/s, '');

/** The errors of a body, such as `name is required`; empty when it is valid. */
export function validationErrors(
  { schema, validated = schema, isSecret = false }: NamedSchema<unknown>,
  body: unknown,
): string[] {
  // Compiled once: ajv remembers each schema.
  const validate = ajv.compile(validated);
  if (validate(body)) return [];
  // The operations check hosts completely, with errors that a schema cannot state.
  const errors = (validate.errors ?? []).filter(
    ({ keyword, parentSchema }) =>
      !['pattern', 'maxLength'].includes(keyword) || parentSchema?.['x-rule'] !== bareHostRule,
  );
  // An anyOf is described by its `x-rule`, not by the errors of its branches.
  const anyOfPaths = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.schemaPath);
  // A URL that is no URI does not match the pattern of URLs either.
  const notUris = errors.filter(({ keyword }) => keyword === 'format').map(pathOf);
  const messages = new Set<string>();
  for (const error of errors) {
    if (error.keyword === 'pattern' && notUris.includes(pathOf(error))) continue;
    if (anyOfPaths.some((path) => error.schemaPath.startsWith(`${path}/`))) continue;
    const message = errorMessage(error);
    messages.add(isSecret ? withoutValue(message) : message);
    // A hostile body has thousands.
    if (messages.size === maxErrors) break;
  }
  return [...messages];
}

/** @throws ServiceError invalid_request with the errors of a body */
export const requireValid = (schema: NamedSchema<unknown>, body: unknown): void =>
  rejectInvalid(validationErrors(schema, body));
