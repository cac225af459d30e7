import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { openApiDocument } from '../../server/control/openapi.ts';

interface Problem {
  readonly severity: string;
  readonly ruleId: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

/** The used part of `@redocly/openapi-core`. */
interface Linter {
  createConfig(config: object): Promise<object>;
  lintFromString(options: {
    source: string;
    absoluteRef: string;
    config: object;
  }): Promise<Problem[]>;
}

/**
 * Checks that the document causes no errors or warnings.
 * @param folder a folder with the packages of `programs/`
 */
export async function lintDocument(t: Test, folder: string): Promise<void> {
  const path = createRequire(join(folder, 'package.json')).resolve('@redocly/openapi-core');
  const { createConfig, lintFromString }: Linter = await import(pathToFileURL(path).href);
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Clients use `/img/?url=`.
      'no-path-trailing-slash': 'off',
      // Health requests cause no client errors.
      'operation-4xx-response': 'off',
    },
  });
  const lint = async (document: object) => {
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    // The rule ignores the fields of the object around a `not`.
    const isMisread = ({ ruleId, location: [at] }: Problem) =>
      ruleId === 'no-required-schema-properties-undefined' && at?.pointer?.includes('/not/');
    return problems
      .filter((problem) => !isMisread(problem))
      .map(
        ({ severity, ruleId, message, location: [at] }) =>
          `${severity} ${ruleId}: ${message} ${at?.pointer}`,
      );
  };
  const document = openApiDocument('https://images.shop.test');
  t.same(await lint(document), []);
  t.match(
    await lint({ ...document, paths: { '/a': { get: {} } } }),
    /responses/,
    'the linter finds problems',
  );
}
