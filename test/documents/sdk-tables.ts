import { errorCatalogue } from '../../contract/errors.ts';
import type { Operation } from '../../server/control/operation.ts';
import { controlPrefix, operations } from '../../server/control/operations.ts';

/** Returns a TypeScript literal. */
const literal = (value: unknown): string => JSON.stringify(value);

/** Returns every error code with its status and its hint. */
export function errorsModule(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, hint }]) => [
    code,
    { status, hint },
  ]);
  return `/** Status and next step of every error code of the service. Codes are stable. */
  export const errors = ${literal(Object.fromEntries(rows))} as const;

  export type ErrorCode = keyof typeof errors;`;
}

/** Returns the facts about each operation that a client needs to call it. */
export function operationsModule(): string {
  const rows = Object.entries<Operation>(operations).map(([id, operation]) => {
    const { method, path, input, query, result, isPaged, hasLocation } = operation;
    const row = {
      method,
      path,
      body: input && (input.isOptional ? 'optional' : 'required'),
      query: query && Object.keys(query),
      result: result?.field,
      isPaged,
      hasLocation,
    };
    return `${id}: ${literal(row)},`;
  });
  return `export const controlPrefix = '${controlPrefix}';

  /**
   * Operations of the control plane. \`path\` is below the prefix. \`result\` is the response
   * body's field with the value, or absent if there is no body. \`isPaged\` marks lists that
   * support pages. \`hasLocation\` marks responses with a Location, which is the URL of the
   * request's progress.
   */
  export const operations = { ${rows.join('\n')} } as const;`;
}
