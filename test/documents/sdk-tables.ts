import { errorCatalogue } from '../../contract/errors.ts';
import { controlPrefix, type Endpoint, endpoints } from '../../server/control/endpoints.ts';

/** A TypeScript literal. */
const literal = (value: unknown): string => JSON.stringify(value);

/** Every error code, with its status and its hint. */
export const errorsModule = (): string =>
  `/** Status and next step of every error code of the service. Codes are stable. */
  export const errors = ${literal(errorCatalogue)} as const;

  export type ErrorCode = keyof typeof errors;`;

/** What a client needs to know of each operation to send it. */
export function operationsModule(): string {
  const rows = Object.entries<Endpoint>(endpoints).map(([id, endpoint]) => {
    const { method, path, input, inputOptional, query, success } = endpoint;
    const isPaged = query?.includes('cursor') ?? false;
    const row = {
      method,
      path,
      body: input && (inputOptional === true ? 'optional' : 'required'),
      query: inputOptional === true ? ['host'] : isPaged ? undefined : query,
      result: success.name,
      isPaged: isPaged || undefined,
      hasLocation: success.hasLocation,
    };
    return `${id}: ${literal(row)},`;
  });
  return `export const controlPrefix = '${controlPrefix}';

  /**
   * The operations of the control plane. \`path\` is below the prefix; \`result\` is the field of the response's
   * body that has the value; with \`isPaged\` a list can be asked for in pages; with \`hasLocation\` the response's
   * Location is the URL of the request's progress.
   */
  export const operations = { ${rows.join('\n')} } as const;`;
}
