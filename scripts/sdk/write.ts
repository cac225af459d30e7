import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { errorCatalogue } from '../../contract/errors.ts';
import type { Operation } from '../../server/control/operation.ts';
import { controlPrefix, operations } from '../../server/control/operations.ts';
import { maxVariantCharacters, maxVariants } from '../../server/control/resources/prewarms.ts';
import { urlParameters } from '../../server/image/overlays.ts';
import { parametersModule, rulesModule } from './parameters.ts';
import { schemaTypes } from './schemas.ts';

/** `node scripts/build.js types`: writes `sdk/src/generated/` from the service's tables. */

/** Returns every error code with its status and its hint. */
function errorsModule(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, hint }]) => [
    code,
    { status, hint },
  ]);
  return `/** Status and next step of every error code of the service. Codes are stable. */
export const errors = ${JSON.stringify(Object.fromEntries(rows))} as const;

export type ErrorCode = keyof typeof errors;`;
}

/** Returns the facts about each operation that a client needs to call it. */
function operationsModule(): string {
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
    return `${id}: ${JSON.stringify(row)},`;
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

/** Returns the limits of a prewarm request, for the client that derives requests from image URLs. */
function prewarmModule(): string {
  return `/** Parameters of a variant. The service ignores others in image URLs. */
export const variantNames: readonly string[] = ${JSON.stringify(Object.keys(urlParameters))};

/** Maximum number of variants in a request. */
export const maxVariants = ${maxVariants};

/** Maximum number of characters in all variants of a request as JSON. */
export const maxVariantCharacters = ${maxVariantCharacters};`;
}

const modules = {
  errors: errorsModule,
  operations: operationsModule,
  parameters: parametersModule,
  rules: rulesModule,
  prewarm: prewarmModule,
  schemas: schemaTypes,
};

const folder = new URL('../../sdk/src/generated/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [name, generate] of Object.entries(modules)) {
  const file = new URL(`${name}.ts`, folder);
  const text = `/** Generated from the service's tables by \`scripts/build.js\`. */\n\n${generate()}\n`;
  // An unchanged module keeps its time of change, for watching programs.
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text);
}
