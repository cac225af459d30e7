import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { imageSchemas } from './image-schemas.ts';
import type { NamedSchema } from './schema.ts';
import { errorMessage, maxErrors, rejectInvalid } from './validation-messages.ts';

/** The dialect of OpenAPI 3.1. */
const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false });
formats.default(ajv, ['uri', 'uri-reference', 'date-time', 'date']);
for (const keyword of ['x-rule', 'x-aliases', 'components']) ajv.addKeyword(keyword);
const validators = new Map<string, ValidateFunction>();

function findValidator({ name, schema, parts }: NamedSchema<unknown>): ValidateFunction {
  const components = { schemas: { ...imageSchemas, ...parts } };
  const validator = validators.get(name) ?? ajv.compile({ ...schema, components });
  validators.set(name, validator);
  return validator;
}

const getPath = ({ instancePath }: { readonly instancePath: string }): string => instancePath;

const withoutValue = (message: string): string => message.replace(/, but is .*$/s, '');

/** Returns a body's errors, such as `name is required`; empty if it is valid. */
export function validationErrors(input: NamedSchema<unknown>, body: unknown): string[] {
  const validate = findValidator(input);
  if (validate(body)) return [];
  const errors = validate.errors ?? [];
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
    messages.add(input.isSecret ? withoutValue(message) : message);
    // A hostile body causes thousands.
    if (messages.size === maxErrors) break;
  }
  return [...messages];
}

/** @throws ServiceError invalid_request with a body's errors */
export const requireValid = (schema: NamedSchema<unknown>, body: unknown): void =>
  rejectInvalid(validationErrors(schema, body));
