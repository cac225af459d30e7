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

const getPath = ({ instancePath }: { readonly instancePath: string }): string => instancePath;

const withoutValue = (message: string): string => message.replace(/, and (?:is|has) .*$/s, '');

/** Returns a body's errors, such as `name is required`; empty if it is valid. */
export function validationErrors(
  { schema, validated = schema, isSecret = false }: NamedSchema<unknown>,
  body: unknown,
): string[] {
  // ajv compiles each schema once and caches it.
  const validate = ajv.compile(validated);
  if (validate(body)) return [];
  // The operations check hosts completely, with errors that a schema cannot state.
  const errors = (validate.errors ?? []).filter(
    ({ keyword, parentSchema }) =>
      !['pattern', 'maxLength'].includes(keyword) || parentSchema?.['x-rule'] !== bareHostRule,
  );
  // Describe an anyOf by its `x-rule`, not by its branches' errors.
  const anyOfPaths = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.schemaPath);
  // A URL that is not a URI does not match the URL pattern either.
  const notUris = errors.filter(({ keyword }) => keyword === 'format').map(getPath);
  const messages = new Set<string>();
  for (const error of errors) {
    if (error.keyword === 'pattern' && notUris.includes(getPath(error))) continue;
    if (anyOfPaths.some((path) => error.schemaPath.startsWith(`${path}/`))) continue;
    const message = errorMessage(error);
    messages.add(isSecret ? withoutValue(message) : message);
    // A hostile body causes thousands.
    if (messages.size === maxErrors) break;
  }
  return [...messages];
}

/** @throws ServiceError invalid_request with a body's errors */
export const requireValid = (schema: NamedSchema<unknown>, body: unknown): void =>
  rejectInvalid(validationErrors(schema, body));
