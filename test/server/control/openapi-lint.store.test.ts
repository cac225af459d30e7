import { createConfig, lintFromString } from '@redocly/openapi-core';
import t from 'tap';
import { openApiDocument } from '../../../server/control/openapi.ts';

t.test('the interface specification passes a linter without error or warning', async (t) => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // `/img/?url=` is how clients write it.
      'no-path-trailing-slash': 'off',
      // Health has nothing that a client could do wrong.
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
  t.match(await lint({ ...document, paths: { '/a': { get: {} } } }), /responses/, 'it does look');
});
