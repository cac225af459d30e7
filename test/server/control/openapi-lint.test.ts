import { createConfig, lintFromString } from '@redocly/openapi-core';
import t from 'tap';
import { openApiDocument } from '../../../server/control/openapi.ts';

t.test('the OpenAPI document passes a linter without errors or warnings', async (t) => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Clients use `/img/?url=`.
      'no-path-trailing-slash': 'off',
      // Requests for health have no client errors.
      'operation-4xx-response': 'off',
    },
  });
  const lint = async (document: object) => {
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    return problems.map(
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
});
